import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from '../kb/context.ts'
import { firstUnfinished } from '../kb/projection/candidate-index.ts'
import { readProjectionAt } from '../kb/projection/overview-queries.ts'
import { projectionFile } from '../kb/projection/projection.ts'
import { sourceTexts } from '../sources/ingest/source-texts.ts'
import { daysBefore } from '../state/database/row-values.ts'
import { sweepRates } from '../state/rate-counter.ts'
import { coalesce } from '../system/concurrency/coalesce.ts'
import { inUse } from '../system/concurrency/present-work.ts'
import { removeDeleted } from './life-cycle.ts'

/** Days for which data without another expiry is kept. Undefined: each part's own default, and archived Sources forever. */
export type Retention = { events?: number | undefined; audit?: number | undefined; archived?: number | undefined }

const interval = 3_600_000
const removalInterval = 15_000

/**
 * Removes expired and unreferenced data, and resumes verdicts that another process left: now, and every hour. Must run in one of the nodes
 * that share the state. Anything that one sweep cannot remove is left to the next one.
 * @returns a function that stops it
 */
export async function startSweeping(
  ctx: Context,
  retention: Retention,
  onError: (error: unknown) => void,
): Promise<() => void> {
  const sweep = async () => {
    await sweepRows(ctx, retention).catch(onError)
    // Not awaited, since a bucket may have a million objects.
    sweepBlobs(ctx).catch(onError)
    ctx.cluster?.sweep(ctx.now()).catch(onError)
    resumeVerdicts(ctx, onError).catch(onError)
  }
  await sweep()
  const remove = coalesce(() => removeDeleted(ctx).catch(onError))
  void remove()
  const timers = [setInterval(sweep, interval), setInterval(remove, removalInterval)]
  return () => timers.forEach(clearInterval)
}

/** Opens knowledge bases with candidates that await the policy's verdict; an open one continues with them. */
async function resumeVerdicts(ctx: Context, onError: (error: unknown) => void): Promise<void> {
  for (const identity of await ctx.knowledgeBases.list()) {
    const file = join(ctx.directory.index(identity.id), projectionFile)
    const unfinished = readProjectionAt(file, 'any', (sql) => firstUnfinished(sql)) ?? []
    if (unfinished.length > 0) await inUse(() => ctx.kbs.open(identity)).catch(onError)
    await nextTurn()
  }
}

export async function sweepRows(ctx: Context, { events, audit, archived }: Retention): Promise<void> {
  const now = ctx.now()
  await ctx.idempotency.sweep(now)
  await ctx.chatSessions.sweep(now)
  await ctx.sessions.sweep(now)
  await ctx.oneTimeLinks.sweep(now)
  await ctx.oauthRecords.sweep(now)
  await ctx.audit.sweep(now, audit)
  await ctx.events.sweep(now, events)
  await sweepRates(ctx.database)
  await sweepUploads(ctx)
  if (archived !== undefined) await sweepArchived(ctx, daysBefore(now, archived))
}

/** Removes Sources that were archived by then, with their texts; the next sweep of blobs removes their bytes. */
async function sweepArchived(ctx: Context, at: string): Promise<void> {
  const { sources } = ctx
  for (let some = await sources.archivedBefore(at); some.length > 0; some = await sources.archivedBefore(at)) {
    for (const source of some) {
      await sourceTexts(ctx).remove(source)
      await sources.remove(source)
    }
  }
}

/** Removes files that an earlier process was receiving or reading. Only for a process that has the data directory to itself. */
export async function removeReceived({ directory }: Context): Promise<void> {
  // A program that was reading a document for the earlier process may still be ending.
  const options = { recursive: true, force: true, maxRetries: 5 }
  for (const name of await readdir(directory.incoming)) await rm(join(directory.incoming, name), options)
}

export async function sweepUploads({ uploads, uploadBytes, now }: Context): Promise<void> {
  await uploads.sweep(now())
  await uploadBytes.sweep()
}

export async function sweepBlobs({ blobs, sources, now }: Context): Promise<void> {
  await blobs.sweep((sha256) => sources.hasBytes(sha256), now())
}
