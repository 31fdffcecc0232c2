import { runningTests, type TestEffects } from '../contract/answer-tests.ts'
import type { CandidateDetail } from '../contract/candidates.ts'
import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import { findQueued } from '../queue/find-queued.ts'
import { readCandidate } from '../queue/read-candidate.ts'
import type { Caller } from '../rules/access/caller.ts'
import { withinPatience } from '../system/concurrency/within-patience.ts'
import { testEffects } from './test-effects.ts'

/** Milliseconds that a reader waits for effects that nobody has looked at yet. */
const patience = 2_000

/** As {@link readCandidate}, with its effects on the answer tests. @throws {GanglionError} `not_found` */
export async function readCandidateEffects(
  ctx: Context,
  caller: Caller,
  candidateId: string,
): Promise<CandidateDetail> {
  const detail = await readCandidate(ctx, caller, candidateId)
  const effects = await readEffects(ctx, caller, [candidateId])
  return effects === undefined ? detail : { ...detail, effects }
}

/** Effects of candidates of one knowledge base as far as they are known; undefined where there are no tests, or one was decided. */
export async function readEffects(
  ctx: Context,
  caller: Caller,
  ids: readonly string[],
): Promise<TestEffects | undefined> {
  const [first] = ids
  if (first === undefined) return undefined
  const { kb, row } = await findQueued(ctx, caller, first)
  if (row.status !== 'pending') return undefined
  try {
    const finding = testEffects(ctx, kb, ids)
    return finding && (await withinPatience(patience, finding, () => runningTests))
  } catch (error) {
    if (error instanceof GanglionError && (error.code === 'not_pending' || error.code === 'not_found')) return undefined
    throw error
  }
}
