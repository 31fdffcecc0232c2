import { LRUCache } from 'lru-cache'
import { ExtractPool } from '../chat/extract/extract-pool.ts'
import type { TestReport, TestResult } from '../contract/answer-tests.ts'
import { GanglionError } from '../contract/errors.ts'
import { treeOfCommit } from '../git/objects/object.ts'
import { viewAs } from '../kb/access/kb-view.ts'
import { type Context, onePer } from '../kb/context.ts'
import { hasTestFiles } from '../kb/projection/file-queries.ts'
import { neuronsInOrder } from '../kb/projection/neuron-queries.ts'
import { PerCommit, type ReadableKb } from '../kb/readable-kb.ts'
import { searchOf } from '../search/kb/laid-over-search.ts'
import { kbAsker } from './kb-asker.ts'
import { keepRun } from './kept-runs.ts'
import { runTests } from './run-tests.ts'
import { readTestFiles, type TestSet } from './test-files.ts'

export type MainRun = TestSet & { commit: string; results: TestResult[] }

const maxUnreached = 50
const attempts = 3
/** Maximum trees of a knowledge base whose results are cached. */
const maxTrees = 8

const runs = new PerCommit<MainRun>()

/** Results of the tests in a tree, of main or of a preview: an approval makes the tree that was tested as its preview. */
const resultsOfTrees = onePer((_: object) => new LRUCache<string, TestResult[]>({ max: maxTrees }))

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
  const run = { commit, ...(await runTree(ctx, kb)) }
  // Results may mix two states if main moved meanwhile.
  if (run.tests.length > 0 && headOf(kb) === commit) await keepRun(ctx, kb, run).catch(ctx.onError)
  return run
}

/** Returns all tests of main or of a preview with their results, which a tree keeps. @throws as {@link resultsOf} */
export async function runTree(ctx: Context, kb: ReadableKb): Promise<Omit<MainRun, 'commit'>> {
  const base = kb.laidOver?.on ?? kb
  const { main } = base.heads()
  const known = resultsOfTrees(base)
  const tree = treeOfCommit((await kb.repository.read(headOf(kb))).data)
  const set = await readTestFiles(kb.projection.read, kb.repository)
  const before = known.get(tree)
  // A search also lists Sources, which are in no tree.
  const again = set.tests.filter(({ test }) => before === undefined || test.search !== undefined)
  const results = await resultsOf(ctx, kb, { tests: again })
  const byTest = new Map(again.map((test, at) => [test, results[at]]))
  const all = set.tests.flatMap((test, at) => byTest.get(test) ?? before?.[at] ?? [])
  // Results may mix two states if main moved meanwhile.
  if (base.heads().main === main) known.set(tree, all)
  return { ...set, results: all }
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

/** Returns how much of main the tests of a run reach. */
export async function coverageOf(kb: ReadableKb, { tests, results }: MainRun): Promise<TestReport['coverage']> {
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
