import { z } from 'zod'
import { KbUuid, ObjectId, Timestamp } from './identifiers.ts'
import { maxQuery } from './search.ts'
import { Audience, SeqId } from './vocabulary.ts'

/** Maximum number of answer tests of one knowledge base that are run. */
export const maxTests = 500
export const maxTestFiles = 50
export const maxTestFileBytes = 64 * 1024
/** Maximum results of a question that are stored for comparison. */
export const shownResults = 3

const line = (max: number) =>
  z
    .string('must be given, as text')
    .trim()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must be one line')
const SeqIds = z.array(SeqId, 'must be a list of seqIds').min(1).max(20)
const Texts = z.array(line(500), 'must be a list of texts').min(1).max(20)

const expectations = {
  retrieves: SeqIds.describe('Neurons that the question must find among the first `top`.').exactOptional(),
  cites: SeqIds.describe('Neurons that the answer must cite.').exactOptional(),
  contains: Texts.describe('Texts that the answer must contain; case and spaces do not count.').exactOptional(),
  notContains: Texts.describe('Texts that the answer must not contain.').exactOptional(),
  refuses: z
    .boolean('must be true or false')
    .describe('`true`: nothing may be found that answers the question. `false`: something must be.')
    .exactOptional(),
}
const search = {
  q: line(maxQuery).describe('Query of a search.'),
  first: SeqId.describe('Neuron that the search must list first.'),
}
const searched = 'A search, and what comes first in it.'

const names = [...Object.keys(expectations), 'search']

const fields = {
  question: line(1000).describe('Question as a reader asks it; one line of at most 1,000 characters.'),
  audience: Audience.default('tool').describe('Who asks: what this audience may not see is not found.'),
  top: z
    .int('must be a whole number from 1 to 20')
    .min(1)
    .max(20)
    .default(5)
    .describe('How many of the first results `retrieves` looks at.'),
  ...expectations,
}

/** One entry of a file `tests/*.yaml`. */
export const AnswerTest = z
  .strictObject(
    { ...fields, search: z.strictObject(search).describe(searched).exactOptional() },
    { error: ({ code }) => (code === 'invalid_type' ? 'must be a mapping' : undefined) },
  )
  .refine((test) => names.some((name) => Object.hasOwn(test, name)), {
    error: `needs at least one of ${names.join(', ')}`,
  })
  .describe('A question, and what must hold of its answer: at least one expectation.')
export type AnswerTest = z.output<typeof AnswerTest>

const sent = z.object({ ...fields, search: z.object(search).describe(searched).exactOptional() })

/** Test to add. Without an expectation, the present answer becomes one. */
export const AnswerTestInput = sent.meta({
  id: 'AnswerTestInput',
  description: "An answer test to add. Without an expectation, today's answer becomes one: the same first Neuron.",
  examples: [{ question: 'Who is paged for a VIP ticket?' }],
})
export type AnswerTestInput = z.output<typeof AnswerTestInput>

const TestResultLine = z.object({
  seqId: SeqId,
  title: z.string().describe('Title of the Neuron.'),
  passage: z.string().describe('What it says on the question, in Markdown.'),
})
export type TestResultLine = z.output<typeof TestResultLine>

const place = {
  file: z.string().describe('Path of the file that holds the test.'),
  line: z.int().positive().describe('Line of the file on which the test begins.'),
  question: fields.question,
  audience: Audience.describe('Who asks.'),
}
const Top = z.array(TestResultLine)
const Failures = z.array(z.string()).describe('What does not hold, as sentences. Empty if the test passes.')

export const TestResult = z
  .object({
    ...place,
    passed: z.boolean().describe('Whether all expectations hold.'),
    failures: Failures,
    top: Top.describe(`The first ${shownResults} results of the question.`),
  })
  .meta({ id: 'TestResult' })
export type TestResult = z.output<typeof TestResult>

const TestChange = z
  .object({
    ...place,
    failures: Failures.describe('What does not hold with the candidate, as sentences.'),
    before: Top.describe(`The first ${shownResults} results on \`main\`.`),
    after: Top.describe(`The first ${shownResults} results with the candidate.`),
  })
  .meta({ id: 'TestChange' })
export type TestChange = z.output<typeof TestChange>

const TestProblem = z.object({
  file: z.string().describe('Path of the file.'),
  line: z.int().positive().describe('Line of the file.'),
  message: z.string().describe('What is wrong with it, as a sentence.'),
})

export const TestQuery = z.object({
  candidate: z
    .uuid()
    .describe('UUID of a pending candidate: the tests are run as if it were approved.')
    .exactOptional(),
})

const TestRun = z.object({
  commit: ObjectId.describe('Commit of `main` that was tested.'),
  at: Timestamp.describe('Time of the commit.'),
  passed: z.int().nonnegative().describe('Tests that passed.'),
  failed: z.int().nonnegative().describe('Tests that failed.'),
})
export type TestRun = z.output<typeof TestRun>

const kbId = '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f'
const at = {
  file: 'tests/answers.yaml',
  line: 1,
  question: 'Who is paged for a VIP ticket?',
  audience: 'tool',
} as const
const found = { seqId: 'handbook_00000042', title: 'VIP escalation policy', passage: 'Page the lead.' }
const run = { commit: '3f786850e387550fdab836ed7e6dc881de23001b', at: '2026-11-26T08:00:00.000Z', passed: 1, failed: 0 }

const ProposedTest = z.object({
  question: z.string().describe('What was asked; of a refused question without case and accents.'),
  refused: z.int().nonnegative().describe('How often chat refused to answer it.'),
  feedback: z
    .array(
      z.object({
        candidateId: z.uuid().describe('The candidate that waits.'),
        vote: z.enum(['up', 'down', 'flag']).describe('What a reader thinks of the answer.'),
        reason: z.string().describe('What the reader says is wrong.').exactOptional(),
        shouldCite: SeqId.describe('The Neuron that the answer should cite, as the reader says.').exactOptional(),
      }),
    )
    .describe('Feedback on answers to it that waits in the queue.'),
  test: sent.describe(
    'The test to add: that the answer cites what the latest feedback with a Neuron names; else that there is an answer; after votes up alone, today’s answer.',
  ),
})
export type ProposedTest = z.output<typeof ProposedTest>

export const TestReport = TestRun.omit({ at: true })
  .extend({
    kbId: KbUuid,
    candidateId: z.uuid().describe('The candidate that the tests were run with.').exactOptional(),
    results: z.array(TestResult).describe('In the order of the files and of the tests in them.'),
    proposed: z
      .array(ProposedTest)
      .describe(
        'Questions that readers voted on or named a Neuron for, and that chat refused, and no test holds yet. Absent with `candidate`.',
      )
      .exactOptional(),
    moreProposed: z
      .literal(true)
      .describe(
        'Present if more is pending than `proposed` was made of: the latest 50 votes, and the 50 questions refused most often that no test asks.',
      )
      .exactOptional(),
    problems: z.array(TestProblem).describe('What cannot be run.'),
    coverage: z
      .object({
        neurons: z.int().nonnegative().describe('Number of Neurons.'),
        reached: z.int().nonnegative().describe('Neurons that a test names, or finds among its first results.'),
        unreached: z
          .array(TestResultLine.omit({ passage: true }))
          .describe('The first 50 Neurons that no test reaches.'),
      })
      .describe('Which Neurons the tests reach.'),
    history: z.array(TestRun).describe('Commits of `main` that were tested, oldest first; at most 100.'),
    redSince: ObjectId.nullable().describe(
      'First tested commit since which a test has failed on `main`. Null if all pass.',
    ),
  })
  .meta({
    id: 'TestReport',
    description: 'The results of the answer tests.',
    examples: [
      {
        ...{ kbId, commit: run.commit, passed: 1, failed: 0, problems: [], history: [run], redSince: null },
        results: [{ ...at, passed: true, failures: [], top: [found] }],
        coverage: { neurons: 2, reached: 1, unreached: [{ seqId: 'handbook_00000007', title: 'On-call rotation' }] },
      },
    ],
  })
export type TestReport = z.output<typeof TestReport>

export const TestEffects = z
  .object({
    state: z
      .enum(['tested', 'running', 'failed'])
      .describe('`running`: ask again. `failed`: the candidate cannot be applied, or the tests could not be run.'),
    reason: z
      .string()
      .describe('Why there are no results, as a sentence. Present if `state` is `failed`.')
      .exactOptional(),
    tests: z.int().nonnegative().describe('Number of tests.'),
    broken: z.array(TestChange).describe('Tests that pass on `main`, and fail with the candidate.'),
    mended: z.array(TestChange).describe('Tests that fail on `main`, and pass with the candidate.'),
    changed: z.array(TestChange).describe('Other tests whose first results differ.'),
  })
  .meta({
    id: 'TestEffects',
    description: "What a candidate's approval changes in the results of the answer tests.",
  })
export type TestEffects = z.output<typeof TestEffects>

/** Effects while the tests are still running. */
export const runningTests: TestEffects = { state: 'running', tests: 0, broken: [], mended: [], changed: [] }

export const AddedTest = z
  .object({
    commit: ObjectId.describe('Commit on `main` that adds the test.'),
    file: z.string().describe('Path of the file that holds it.'),
    test: sent.describe('The test as it is in the file, with the defaults of its fields.'),
  })
  .meta({
    id: 'AddedTest',
    description: 'The test that was added.',
    examples: [
      {
        ...{ commit: run.commit, file: at.file },
        test: { question: at.question, audience: 'tool', top: 5, retrieves: ['handbook_00000042'] },
      },
    ],
  })
export type AddedTest = z.output<typeof AddedTest>

export const TestDismissal = z
  .object({ question: fields.question })
  .meta({ id: 'TestDismissal', description: 'The question of a proposed test.', examples: [{ question: at.question }] })

export const DismissedTest = z
  .object({ candidates: z.array(z.uuid()).describe('The feedback that was dismissed.') })
  .meta({ id: 'DismissedTest', description: 'What proposed the test.', examples: [{ candidates: [kbId] }] })
export type DismissedTest = z.output<typeof DismissedTest>
