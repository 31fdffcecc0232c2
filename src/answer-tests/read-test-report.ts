import type { TestReport } from '../contract/answer-tests.ts'
import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { ReadableKb } from '../kb/readable-kb.ts'
import { previewedKb } from '../queue/preview/previewed-kb.ts'
import type { Caller } from '../rules/access/caller.ts'
import { countsOf, testHistory } from './kept-runs.ts'
import { coverageOf, mainRun, runTree } from './main-run.ts'
import { listProposedTests } from './proposed-tests.ts'

/**
 * Returns the results of a knowledge base's answer tests on main, or as if a candidate were approved. For curators.
 * @throws {GanglionError} `not_found`, `not_pending`, `unavailable`; `merge_conflict` if the candidate cannot be approved
 */
export async function readTestReport(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { candidate }: { candidate?: string } = {},
): Promise<TestReport> {
  if (candidate === undefined) {
    const report = await testReportOf(ctx, await ctx.readableKb(caller.tenantId, kbName))
    return { ...report, ...(await listProposedTests(ctx, caller, kbName)) }
  }
  const kb = await ctx.kb(caller.tenantId, kbName)
  const report = await testReportOf(ctx, kb)
  const previewed = await previewedKb(ctx, caller, kb, [candidate])
  const [conflict] = previewed.preview.conflicts
  if (conflict !== undefined) throw new GanglionError('merge_conflict', conflict.message)
  const { results, problems } = await runTree(ctx, previewed)
  return { ...report, candidateId: candidate, ...countsOf(results), results, problems }
}

export async function testReportOf(ctx: Context, kb: ReadableKb): Promise<TestReport> {
  const run = await mainRun(ctx, kb)
  const { commit, results, problems } = run
  const coverage = await coverageOf(kb, run)
  const history = await testHistory(ctx, kb)
  return { kbId: kb.identity.id, commit, ...countsOf(results), results, problems, coverage, ...history }
}
