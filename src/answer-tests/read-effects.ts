import { runningTests, type TestEffects } from '../contract/answer-tests.ts'
import type { CandidateDetail } from '../contract/candidates.ts'
import { undefinedOn } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { QueueEntry } from '../queue/lists/list-queue.ts'
import { readForReview } from '../queue/read-candidate.ts'
import type { Caller } from '../rules/access/caller.ts'
import { withTimeout } from '../system/concurrency/with-timeout.ts'
import { testEffects } from './test-effects.ts'

/** Milliseconds to wait for effects that are not computed yet. */
const patience = 2_000

/** Returns what {@link readForReview} does, with the effects on the answer tests. @throws {GanglionError} `not_found` */
export async function readCandidateEffects(
  ctx: Context,
  caller: Caller,
  id: string,
): Promise<{ detail: CandidateDetail; version: string }> {
  const { detail, version } = await readForReview(ctx, caller, id)
  const effects = await readEffects(ctx, caller, { id, kb: detail.kbId, status: detail.status })
  return { detail: effects === undefined ? detail : { ...detail, effects }, version }
}

/** Returns the effects of a candidate as far as they are known; undefined if there are no tests, or it is decided. */
export async function readEffects(
  ctx: Context,
  { tenantId }: Caller,
  { id, kb, status }: Pick<QueueEntry, 'id' | 'kb' | 'status'>,
): Promise<TestEffects | undefined> {
  if (status !== 'pending') return undefined
  const find = async () => {
    const finding = testEffects(ctx, await ctx.kb(tenantId, kb), [id])
    return finding && withTimeout(patience, finding, () => runningTests)
  }
  return find().catch(undefinedOn('not_pending', 'not_found'))
}
