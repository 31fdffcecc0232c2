import { setTimeout as delay } from 'node:timers/promises'
import { RemoteError } from '../../git/transport/remote.ts'
import type { Context } from '../../kb/context.ts'
import { inUse } from '../../kb/open/kb-use.ts'
import type { ForgeLink } from '../../state/forge/forge-links.ts'
import { ForgeError } from '../forge-error.ts'
import { retryAfter } from '../rate-limit.ts'
import { type BridgeOptions, ForgeBridge } from './forge-bridge.ts'
import { isForgeError } from './linked.ts'

/** So often it is looked for what is due, and for what the command line has changed. */
const intervalMs = 5_000
/** Between two comparisons of a link, however much happens: forges limit reading, too. */
const restMs = 1_000
/** A forge that says nothing is asked so often. */
const pollMs = 60_000
const firstRetryMs = 5_000
const longestRetryMs = 10 * 60_000

/**
 * Keeps linked knowledge bases and their repositories the same, as either changes.
 * @returns how to stop it
 */
export function startForges(ctx: Context, options: BridgeOptions): () => Promise<void> {
  const bridge = new ForgeBridge(ctx, options)
  const busy = new Map<string, Promise<void>>()
  const woken = new Set<string>()
  const followed = new Set<string>()
  const known = new Set<string>()
  const stopping = new AbortController()
  const { signal } = stopping
  const run = (link: ForgeLink) => {
    woken.delete(link.id)
    const running = syncLink(ctx, bridge, link)
      .catch((error) => {
        if (!signal.aborted) options.onError(error)
      })
      .then(() => delay(restMs, undefined, { signal }).catch(() => {}))
      .finally(() => {
        busy.delete(link.id)
        if (woken.has(link.id)) lookSoon()
      })
    busy.set(link.id, running)
  }
  const look = async () => {
    const now = ctx.now().toISOString()
    for (const link of await ctx.forgeLinks.list()) {
      if (signal.aborted) return
      follow(link.tenantId)
      // A server that was killed may have left a comparison half done, long before it is due again.
      if (!known.has(link.id)) woken.add(link.id)
      known.add(link.id)
      const isDue = link.dueAt === null || link.dueAt <= now
      // A forge that wants to be left alone is, whatever happens.
      const isWanted = isDue || (woken.has(link.id) && link.failingSince === null)
      if (isWanted && !busy.has(link.id)) run(link)
    }
  }
  const follow = (tenantId: string) => {
    if (followed.has(tenantId)) return
    followed.add(tenantId)
    listen(tenantId).catch(options.onError)
  }
  const listen = async (tenantId: string) => {
    for (;;) {
      const arrivals = ctx.events.arrivals(tenantId)
      await ctx.events.arrival(tenantId, arrivals, signal)
      if (signal.aborted) return
      for (const { id } of await ctx.forgeLinks.list(tenantId)) woken.add(id)
      lookSoon()
    }
  }
  const lookSoon = () => void look().catch(options.onError)
  const timer = setInterval(lookSoon, intervalMs)
  lookSoon()
  const stopListening = ctx.database.notifications.listen('forge', (linkId) => {
    for (const id of linkId === undefined ? known : [linkId]) woken.add(id)
    lookSoon()
  })
  return async () => {
    stopListening()
    stopping.abort()
    clearInterval(timer)
    bridge.close()
    await Promise.all(busy.values())
  }
}

/** Compares both sides of a link once, and notes how that went and when it is due again. */
export async function syncLink(ctx: Context, bridge: ForgeBridge, link: ForgeLink): Promise<void> {
  const { forgeLinks, now } = ctx
  try {
    const note = (await inUse(() => bridge.sync(link))) ?? null
    const syncedAt = now()
    const dueAt = new Date(syncedAt.getTime() + pollMs).toISOString()
    await forgeLinks.note(link.id, { syncedAt: syncedAt.toISOString(), failingSince: null, failures: 0, note, dueAt })
  } catch (error) {
    if (bridge.isClosed) return // the next start goes on
    // What is forgotten with the rest is how long the forge wants to be left alone.
    if (!isForgeError(error, 'rate-limited')) bridge.forget(link.id)
    const failures = link.failures + 1
    const at = now().getTime()
    const retry = Math.min(longestRetryMs, firstRetryMs * 2 ** (failures - 1))
    const until = untilOf(error, now())?.getTime()
    await forgeLinks.note(link.id, {
      ...{ failures, failingSince: link.failingSince ?? new Date(at).toISOString() },
      note: error instanceof Error ? error.message : 'It failed.',
      dueAt: new Date(Math.max(at + retry, until ?? 0)).toISOString(),
    })
    throw error
  }
}

/** When the forge wants to be asked again. */
function untilOf(error: unknown, now: Date): Date | undefined {
  if (error instanceof RemoteError) return retryAfter(error.retryAfter, now)
  return error instanceof ForgeError ? error.until : undefined
}
