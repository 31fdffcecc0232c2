import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { TestChange, TestEffects, TestResult } from '../contract/answer-tests.ts'
import { GanglionError } from '../contract/errors.ts'
import { type Context, onePer } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate, pendingRecord } from '../kb/projection/candidate-index.ts'
import { hasTestFiles } from '../kb/projection/file-queries.ts'
import { previewedKb } from '../queue/preview/previewed-kb.ts'
import type { Caller } from '../rules/access/caller.ts'
import { KeyedLock } from '../system/concurrency/keyed-lock.ts'
import { inUse } from '../system/concurrency/present-work.ts'
import { type MainRun, mainRun, resultsOf, runTree } from './main-run.ts'

const attempts = 3
const maxKept = 200
const tooMany = 'Too many candidates are looked at: ask again.'
const none = { broken: [], mended: [], changed: [] }

/** Known effects, by the head of main and the records of the candidates, and a lock to compute them one at a time. */
const known = onePer((_: KnowledgeBase) => ({
  effects: new LRUCache<string, Promise<TestEffects>>({ max: maxKept }),
  turns: new KeyedLock(),
}))

/**
 * Returns the changes in answer-test results that approving candidates, in this order, would cause. Computed once for a head of
 * main. Undefined if neither main nor the candidates have test files.
 * @throws {GanglionError} `not_found`, `not_pending`
 */
export function testEffects(ctx: Context, kb: KnowledgeBase, ids: readonly string[]): Promise<TestEffects> | undefined {
  const { tenantId } = kb.identity
  const { read: sql } = kb.projection
  if (!hasTestFiles(sql) && !ids.some((id) => findCandidate(sql, id)?.hasTests)) return undefined
  const { effects, turns } = known(kb)
  const key = JSON.stringify([kb.heads().main, ...ids.map((id) => [id, pendingRecord(sql, id)])])
  const found = effects.get(key)
  if (found !== undefined) return found
  const finding: Promise<TestEffects> = turns.run('', () =>
    inUse(async () => {
      // This result would be evicted, since so many others were requested meanwhile.
      if (effects.peek(key) !== finding) return { state: 'failed', reason: tooMany, tests: 0, ...none }
      await ctx.kb(tenantId, kb.identity.id) // Stays open until the results are there, even without a caller.
      return findEffects(ctx, curatorOf(tenantId), kb, ids)
    }),
  )
  effects.set(key, finding)
  finding.then(
    ({ state }) => state === 'failed' && effects.delete(key),
    () => effects.delete(key),
  )
  return finding
}

async function findEffects(
  ctx: Context,
  caller: Caller,
  kb: KnowledgeBase,
  ids: readonly string[],
): Promise<TestEffects> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    let tests = 0
    try {
      const before = await mainRun(ctx, kb)
      tests = before.results.length
      const previewed = await previewedKb(ctx, caller, kb, ids)
      const [conflict] = previewed.preview.conflicts
      if (conflict !== undefined) return { state: 'failed', reason: conflict.message, tests, ...none }
      const { tests: asked, results: after } = await runTree(ctx, previewed)
      const was = await resultsBefore(ctx, kb, { before, asked, after })
      if (previewed.main === before.commit) return { state: 'tested', tests: after.length, ...changesOf(was, after) }
    } catch (error) {
      if (!(error instanceof GanglionError) || error.code !== 'unavailable') throw error
      return { state: 'failed', reason: error.message, tests, ...none }
    }
  }
  return { state: 'failed', reason: 'Main changes faster than its answer tests are run.', tests: 0, ...none }
}

/**
 * Returns main's results for the tests after the approval. A test that main lacks counts as passing there if it fails with the
 * candidate, so that it appears as broken.
 */
async function resultsBefore(
  ctx: Context,
  kb: KnowledgeBase,
  { before, asked, after }: { before: MainRun; asked: MainRun['tests']; after: readonly TestResult[] },
): Promise<TestResult[]> {
  const keyOf = ({ test }: MainRun['tests'][number]) => JSON.stringify(test)
  const known = new Map(before.tests.map((test, at) => [keyOf(test), before.results[at]]))
  const added = asked.filter((test) => !known.has(keyOf(test)))
  const results = await resultsOf(ctx, kb, { tests: added })
  for (const [at, test] of added.entries()) known.set(keyOf(test), results[at])
  return asked.flatMap((test, at) => {
    const was = known.get(keyOf(test))
    return was === undefined
      ? []
      : [{ ...was, passed: was.passed || (added.includes(test) && after[at]?.passed === false) }]
  })
}

/** Compares results of the same tests, in the same order. */
export function changesOf(
  before: readonly TestResult[],
  after: readonly TestResult[],
): Pick<TestEffects, 'broken' | 'mended' | 'changed'> {
  const changes = after.flatMap((now, index): [string, TestChange][] => {
    const was = before[index]
    if (was === undefined || (was.passed === now.passed && isDeepStrictEqual(was.top, now.top))) return []
    const { file, line, question, audience, failures, top } = now
    const kind = was.passed === now.passed ? 'changed' : now.passed ? 'mended' : 'broken'
    return [[kind, { file, line, question, audience, failures, before: was.top, after: top }]]
  })
  const of = (kind: string) => changes.filter(([one]) => one === kind).map(([, change]) => change)
  return { broken: of('broken'), mended: of('mended'), changed: of('changed') }
}

/** Returns a caller to compute effects, which are the same for every curator. */
function curatorOf(tenantId: string): Caller {
  return { id: 'cli', name: 'Answer tests', tenantId, role: 'curator', connectors: [] }
}
