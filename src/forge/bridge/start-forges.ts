import { setTimeout as delay } from 'node:timers/promises'
import { GanglionError } from '../../contract/errors.ts'
import { RemoteError } from '../../git/transport/remote.ts'
import type { Context } from '../../kb/context.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import type { ForgeLink } from '../../state/forge-links.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { type Delivery, ForgeError, type ForgeKind, isForgeError } from '../forge-adapter.ts'
import { retryAfter } from '../forge-http.ts'
import { isSigned } from '../open-forge.ts'
import { type BridgeOptions, ForgeBridge } from './forge-bridge.ts'
import { readSecret } from './secret-reference.ts'

/** Milliseconds between checks for links that are due, and for changes by the command line. */
const intervalMs = 5_000
/** Minimum milliseconds between two comparisons of a link: forges limit reading, too. */
const restMs = 1_000
/** Milliseconds between polls of a forge that sends no webhooks. */
const pollMs = 60_000
const firstRetryMs = 5_000
const longestRetryMs = 10 * 60_000

/** Keeps linked knowledge bases and their repositories in sync as either side changes. @returns a function that stops it */
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
      // A killed server may have left a comparison unfinished, long before the next one is due.
      if (!known.has(link.id)) woken.add(link.id)
      known.add(link.id)
      const isDue = link.dueAt === null || link.dueAt <= now
      // A forge that asked to wait gets no requests, whatever happens.
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

/** Compares both sides of a link once, and stores the result and the time of the next comparison. */
export async function syncLink(ctx: Context, bridge: ForgeBridge, link: ForgeLink): Promise<void> {
  const { forgeLinks, now } = ctx
  try {
    const note = (await inUse(() => bridge.sync(link))) ?? null
    const syncedAt = now()
    const dueAt = new Date(syncedAt.getTime() + pollMs).toISOString()
    await forgeLinks.note(link.id, { syncedAt: syncedAt.toISOString(), failingSince: null, failures: 0, note, dueAt })
  } catch (error) {
    if (bridge.isClosed) return // The next start continues.
    // An adapter that is dropped forgets how long its forge asked to wait.
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

/** Returns when the forge accepts requests again. */
function untilOf(error: unknown, now: Date): Date | undefined {
  if (error instanceof RemoteError) return retryAfter(error.retryAfter, now)
  return error instanceof ForgeError ? error.until : undefined
}

/**
 * Receives a webhook of a forge and notifies the bridge of its link. The content of the webhook is never read, so duplicates, delays and
 * losses are harmless.
 * @throws {GanglionError} `not_found` if there is no such link, or it takes no webhooks; `invalid_token` if the signature is not the
 * forge's
 */
export async function receiveDelivery(
  { forgeLinks, database }: Pick<Context, 'forgeLinks' | 'database'>,
  env: NodeJS.ProcessEnv,
  linkId: string,
  delivery: Delivery,
): Promise<void> {
  const link = isUuid(linkId) ? await forgeLinks.find(linkId) : undefined
  if (link === undefined || link.webhookSecret === null) throw new GanglionError('not_found')
  const secret = await readSecret(link.webhookSecret, env)
  if (!isSigned(link.kind as ForgeKind, secret, delivery)) throw new GanglionError('invalid_token')
  await database.notifications.send(database.db, 'forge', link.id)
}
