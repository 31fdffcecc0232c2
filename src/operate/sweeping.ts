import type { Context } from '../kb/context.ts'
import { sweepBlobs, sweepUploads } from '../sources/receive/sweep.ts'
import { sweepRates } from '../state/rate-counter.ts'
import { coalesce } from '../system/concurrency/coalesce.ts'
import { removeDeleted } from './life-cycle.ts'

const interval = 3_600_000
/** Of what is deleted. */
const removalInterval = 15_000

/**
 * Removes what has expired, and what nothing names: now, and every hour. For one of the nodes that share the state. What one sweep
 * cannot remove, since a part is out of reach, the next one does.
 * @returns how to stop it
 */
export async function startSweeping(ctx: Context, onError: (error: unknown) => void): Promise<() => void> {
  const sweep = async () => {
    await sweepRows(ctx).catch(onError)
    // A bucket may have a million objects.
    sweepBlobs(ctx).catch(onError)
    ctx.cluster?.sweep(ctx.now()).catch(onError)
  }
  await sweep()
  const remove = coalesce(() => removeDeleted(ctx).catch(onError))
  void remove()
  const timers = [setInterval(sweep, interval), setInterval(remove, removalInterval)]
  return () => timers.forEach(clearInterval)
}

async function sweepRows(ctx: Context): Promise<void> {
  const now = ctx.now()
  await ctx.idempotency.sweep(now)
  await ctx.chatSessions.sweep(now)
  await ctx.sessions.sweep(now)
  await ctx.oneTimeLinks.sweep(now)
  await ctx.audit.sweep(now)
  await ctx.events.sweep(now)
  await sweepRates(ctx.database)
  await sweepUploads(ctx)
}
