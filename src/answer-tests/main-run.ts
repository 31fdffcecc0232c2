import { ExtractPool } from '../chat/extract/extract-pool.ts'
import type { TestReport, TestResult } from '../contract/answer-tests.ts'
import { GanglionError } from '../contract/errors.ts'
import { viewAs } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import { hasTestFiles } from '../kb/projection/file-queries.ts'
import { neuronsInOrder } from '../kb/projection/neuron-queries.ts'
import { PerCommit, type ReadableKb } from '../kb/readable-kb.ts'
import { searchOf } from '../search/kb/laid-over-search.ts'
import { kbAsker } from './kb-asker.ts'
import { keepRun } from './kept-runs.ts'
import { runTests } from './run-tests.ts'
import { readTestFiles, type TestSet } from './test-files.ts'

export type MainRun = TestSet & { commit: string; results: TestResult[]; coverage: TestReport['coverage'] }

const maxUnreached = 50
const attempts = 3

const runs = new PerCommit<MainRun>()

/**
 * Returns the results of the current main. Cached until main moves.
 * @throws {GanglionError} `unavailable` while the index is built, or if main keeps moving
 */
export async function mainRun(ctx: Context, kb: ReadableKb): Promise<MainRun> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const run = await runs.get(kb, 'curator', () => runOnMain(ctx, kb))
    if (run.commit === headOf(kb)) return run
  }
  throw new GanglionError('unavailable', 'Main changes faster than its answer tests are run.')
}

/** Returns the results alone; undefined if main has no test files. @throws as {@link mainRun} */
export function mainResults(ctx: Context, kb: ReadableKb): Promise<TestResult[]> | undefined {
  if (!hasTestFiles(kb.projection.read)) return undefined
  return mainRun(ctx, kb).then(({ results }) => results)
}

async function runOnMain(ctx: Context, kb: ReadableKb): Promise<MainRun> {
  const commit = headOf(kb)
  const set = await readTestFiles(kb.projection.read, kb.repository)
  const results = await resultsOf(ctx, kb, set)
  const run = { ...set, commit, results, coverage: await coverageOf(kb, set, results) }
  // Results may mix two states if main moved meanwhile.
  if (set.tests.length > 0 && headOf(kb) === commit) await keepRun(ctx, kb, run).catch(ctx.onError)
  return run
}

/** Runs tests in a knowledge base or a preview of it. @throws {GanglionError} `unavailable` */
export async function resultsOf(
  ctx: Context,
  kb: ReadableKb,
  { tests }: Pick<TestSet, 'tests'>,
): Promise<TestResult[]> {
  if (tests.length === 0) return []
  await searchOf(kb, ctx).follow()
  return runTests(tests, kbAsker(ctx, kb, ctx.threads.of(ExtractPool)))
}

function headOf(kb: ReadableKb): string {
  const { main } = kb.projection.heads(kb.projection.read)
  if (main === undefined) throw new GanglionError('unavailable')
  return main
}

async function coverageOf(
  kb: ReadableKb,
  { tests }: TestSet,
  results: readonly TestResult[],
): Promise<TestReport['coverage']> {
  const reached = new Set([
    ...tests.flatMap(({ test: { retrieves = [], cites = [], search } }) => [
      ...retrieves,
      ...cites,
      ...(search === undefined ? [] : [search.first]),
    ]),
    ...results.flatMap(({ top }) => top.map(({ seqId }) => seqId)),
  ])
  const unreached: TestReport['coverage']['unreached'] = []
  let neurons = 0
  let missed = 0
  const view = await viewAs(kb, { audience: 'curator' })
  for (const { seqId, title } of view.rows((sql) => neuronsInOrder(sql))) {
    neurons++
    if (reached.has(seqId)) continue
    if (++missed <= maxUnreached) unreached.push({ seqId, title })
  }
  return { neurons, reached: neurons - missed, unreached }
}
