import { addAnswerTest } from '../../answer-tests/add-test.ts'
import { dismissProposedTest } from '../../answer-tests/proposed-tests.ts'
import { readTestReport } from '../../answer-tests/read-test-report.ts'
import type { AppContext } from '../../app/open-context.ts'
import {
  AddedTest,
  AnswerTestInput,
  DismissedTest,
  TestDismissal,
  TestQuery,
  TestReport,
} from '../../contract/answer-tests.ts'
import { KbPath } from '../../contract/search.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

export function answerTestRoutes(app: ZodFastify, ctx: AppContext): void {
  const forCurators = operationsOf(app, ctx, 'Answer tests', { roles: ['curator'] })

  forCurators.get('/knowledge-bases/:kbId/tests', {
    operationId: 'readTests',
    summary: 'Run the answer tests',
    description:
      'Runs the answer tests in `tests/*.yaml` on `main`, by words alone, and returns their results, the Neurons that ' +
      'they do not reach, and the commits that were tested before. With `candidate`, the results are as if it were ' +
      'approved. Fails with `unavailable` while the search index is built, with `not_pending` if the candidate is ' +
      'decided, and with `merge_conflict` if it cannot be approved.',
    params: KbPath,
    querystring: TestQuery,
    answers: { 200: TestReport },
    errors: ['not_pending', 'merge_conflict'],
    run: ({ ctx, caller, params, query }) => readTestReport(ctx, caller, params.kbId, query),
  })

  forCurators.post('/knowledge-bases/:kbId/tests', {
    operationId: 'addTest',
    summary: 'Add an answer test',
    description:
      "Adds a test to `tests/answers.yaml` by a commit on `main`. Without an expectation, today's answer becomes one: " +
      'its first Neuron, or `refuses: true` if nothing answers the question. Idempotent: a test that is there is not ' +
      'added again. What proposed it is dismissed. Fails with 400 if it names a Neuron that does not exist, or if there are 500 tests.',
    params: KbPath,
    body: AnswerTestInput,
    answers: { 200: AddedTest },
    run: ({ ctx, caller, params, body }) => addAnswerTest(ctx, caller, params.kbId, body),
  })

  forCurators.post('/knowledge-bases/:kbId/tests/dismiss', {
    operationId: 'dismissTest',
    summary: 'Dismiss a proposed answer test',
    description:
      'Dismisses what proposes a test of a question, as `GET` lists it under `proposed`: the feedback on it that waits in ' +
      'the queue, and what was counted of the question. It is proposed again once chat refuses it again. Idempotent.',
    params: KbPath,
    body: TestDismissal,
    answers: { 200: DismissedTest },
    run: ({ ctx, caller, params, body }) => dismissProposedTest(ctx, caller, params.kbId, body),
  })
}
