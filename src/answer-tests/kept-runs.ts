import { mkdir } from 'node:fs/promises'
import { z } from 'zod'
import type { TestReport, TestResult, TestRun } from '../contract/answer-tests.ts'
import type { Context } from '../kb/context.ts'
import { mainCommitsBetween, positionOf } from '../kb/projection/main-changes.ts'
import type { ReadableKb } from '../kb/readable-kb.ts'
import type { Caller } from '../rules/access/caller.ts'
import { folderJson, type KeptJson } from '../state/blobs/kept-json.ts'

const maxRuns = 100
const file = 'answer-tests.json'
const Kept = z.array(z.object({ commit: z.string(), passed: z.number(), failed: z.number() })).catch([])

export type TestHistory = Pick<TestReport, 'history' | 'redSince'>

/** Returns the results of earlier runs on main without running the tests. For curators. @throws {GanglionError} `not_found` */
export async function readTestHistory(ctx: Context, { tenantId }: Caller, kbName: string): Promise<TestHistory> {
  return testHistory(ctx, await ctx.readableKb(tenantId, kbName))
}

export async function testHistory(ctx: Context, kb: ReadableKb): Promise<TestHistory> {
  const history = await keptRuns(ctx, kb)
  return { history, redSince: redSince(history) }
}

/** Counts of the tested commits of main, oldest first. Derived: each can be computed again from its commit. */
async function keptRuns(ctx: Context, kb: ReadableKb): Promise<TestRun[]> {
  const { read: sql } = kb.projection
  const kept = Kept.parse(await storeOf(ctx, kb).find(file))
  const placed = kept.flatMap(({ commit, ...counts }) => {
    const position = positionOf(sql, commit)
    const [found] = position === undefined ? [] : mainCommitsBetween(sql, position - 1, position)
    return position === undefined || found === undefined ? [] : [{ position, run: { commit, at: found.at, ...counts } }]
  })
  return placed.sort((a, b) => a.position - b.position).map(({ run }) => run)
}

export async function keepRun(
  ctx: Context,
  kb: ReadableKb,
  { commit, results }: { commit: string; results: readonly TestResult[] },
): Promise<void> {
  const earlier = (await keptRuns(ctx, kb)).filter((run) => run.commit !== commit)
  const kept = [...earlier, { commit, ...countsOf(results) }].slice(-maxRuns)
  await mkdir(ctx.directory.index(kb.identity.id), { recursive: true })
  await storeOf(ctx, kb).keep(file, kept, { flush: false })
}

/** Returns the commit since which every run has a failing test. */
function redSince(runs: readonly TestRun[]): TestReport['redSince'] {
  const lastGreen = runs.findLastIndex(({ failed }) => failed === 0)
  return runs[lastGreen + 1]?.commit ?? null
}

export function countsOf(results: readonly TestResult[]): { passed: number; failed: number } {
  const passed = results.filter((result) => result.passed).length
  return { passed, failed: results.length - passed }
}

function storeOf({ directory }: Context, { identity }: ReadableKb): KeptJson {
  const folder = directory.index(identity.id)
  return folderJson(folder, folder)
}
