import { addAnswerTest } from '../../src/answer-tests/add-test.ts'
import { readTestReport } from '../../src/answer-tests/read-test-report.ts'
import { AnswerTestInput } from '../../src/contract/answer-tests.ts'
import { commitToMain } from '../../src/kb/writing/commits.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { candidate, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { threads } from '../support/threads.ts'

/** A knowledge base of the template, with two pages more and nothing tested yet. */
export async function testedBed() {
  const bed = await newTestBed({ threads })
  const { ctx, curator, app } = bed
  const take = async (input: Parameters<typeof submitCandidate>[2]) => {
    const { candidateId } = await submitCandidate(ctx, app, input)
    const { seqId } = await approveCandidate(ctx, curator, candidateId, {})
    return seqId ?? ''
  }
  const vip = await take(candidate())
  const hidden = await take(
    candidate({ title: 'Salaries', content: 'The salary of the lead is a secret.', metadata: '{"tags":["internal"]}' }),
  )
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const commit = (files: Record<string, string>) =>
    kb.write((staging) =>
      commitToMain(kb, staging, {
        files: new Map(Object.entries(files)),
        subject: 'Change the tests',
        decided: { operator: { id: 'cli', name: 'Operator' } },
        at: new Date(),
      }),
    )
  const report = () => readTestReport(ctx, curator, 'handbook')
  const add = (input: unknown) => addAnswerTest(ctx, curator, 'handbook', AnswerTestInput.parse(input))
  return { ...bed, take, vip, hidden, kb, commit, report, add }
}
