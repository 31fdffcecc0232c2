import type { TestReport } from '../contract/answer-tests.ts'
import type { Context } from '../kb/context.ts'
import type { ReadableKb } from '../kb/readable-kb.ts'
import type { Caller } from '../rules/access/caller.ts'
import { countsOf, keptRuns, redSince } from './kept-runs.ts'
import { mainRun } from './main-run.ts'

/** The results of a knowledge base's answer tests on main. For curators. @throws {GanglionError} `not_found`, `unavailable` */
export async function readTestReport(ctx: Context, { tenantId }: Caller, kbName: string): Promise<TestReport> {
  return testReportOf(ctx, await ctx.readableKb(tenantId, kbName))
}

async function testReportOf(ctx: Context, kb: ReadableKb): Promise<TestReport> {
  const { commit, results, problems, coverage } = await mainRun(ctx, kb)
  const history = await keptRuns(ctx, kb)
  const kbId = kb.identity.id
  return { kbId, commit, ...countsOf(results), results, problems, coverage, history, redSince: redSince(history) }
}
