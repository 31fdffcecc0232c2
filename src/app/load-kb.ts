import { setTimeout as delay } from 'node:timers/promises'
import { whoIs } from '../kb/access/who-is.ts'
import { noteUse } from '../kb/cluster/cluster.ts'
import type { Context } from '../kb/context.ts'
import { beginEvents, followEvents } from '../kb/events/derive-events.ts'
import type { KbIdentity } from '../kb/kb-identity.ts'
import { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { OpenKb } from '../kb/open/open-kbs.ts'
import { listenToRefs, watchRefs } from '../kb/refs/ref-watcher.ts'
import { OutsideAdoption } from '../push/outside/adopt-outside.ts'
import { formatFindings } from '../push/push-report.ts'
import { candidateHeads } from '../queue/heads/candidate-refs.ts'
import { finishApprovals } from '../queue/policy-approval.ts'
import { policyVerdicts } from '../queue/policy-verdicts.ts'
import { kbPreviews } from '../queue/preview/previewed-kb.ts'
import { kbSearch } from '../search/kb/kb-search.ts'
import { coalesce } from '../system/concurrency/coalesce.ts'

/** Milliseconds before events are logged: after the response, and many in one transaction, since each waits for the disk. */
const tellingPauseMs = 50

/**
 * Opens a knowledge base, and completes what a crash interrupted.
 * @param watch for a server: follows changes of its refs by other programs and nodes
 * @param requireServed throws if it is disabled: then it can be read by code that has its identity, but not written
 */
export async function loadKb(
  ctx: Context,
  identity: KbIdentity,
  watch: { onError: (error: unknown) => void } | undefined,
  requireServed: () => Promise<unknown> = async () => {},
): Promise<OpenKb> {
  const { apiKeys, cluster, directory, events, now } = ctx
  const kb = new KnowledgeBase(identity, {
    gitDir: directory.repository(identity.id),
    indexDir: directory.index(identity.id),
    parser: ctx.parser,
    cluster,
    requireServed,
    people: {
      limitsOf: async (keyId) => (await apiKeys.find(keyId))?.limits,
      whoIs: (actorId) => whoIs(ctx, identity.tenantId, actorId),
    },
    onMoved: () => {
      kbPreviews(kb).dropOld()
      return tellEvents()
    },
  })
  // Events that cannot be logged on a full disk are logged when the refs move again.
  const onError = (error: unknown) => watch?.onError(error)
  const closing = new AbortController()
  const tellEvents = coalesce(async () => {
    await delay(tellingPauseMs, undefined, { signal: closing.signal }).catch(() => {})
    await followEvents(events, kb, now).catch(onError)
  })
  let telling = Promise.resolve()
  let finishing: Promise<undefined | (() => Promise<void>)> | undefined
  const finish = async () => {
    await kb.sync()
    const logged = await events.loggedHeads(identity.id)
    await beginEvents(events, kb).catch(onError)
    telling = tellEvents() // Logs events that a crash left out.
    try {
      await requireServed()
    } catch {
      finishing = undefined // It continues when the knowledge base is served again.
      return undefined
    }
    await finishApprovals(kb, now)
    if (watch) policyVerdicts(kb, ctx).followSoon()
    const adoption = new OutsideAdoption(kb, logged?.main ?? kb.projection.heads(kb.projection.read).main, ctx)
    const follow = async () => {
      await kb.sync()
      await adoptOutside(ctx, kb, adoption)
      candidateHeads(kb, ctx).followSoon()
      policyVerdicts(kb, ctx).followSoon()
      await kbSearch(kb, ctx).follow()
    }
    return watch && followMoves(ctx, kb, { follow, ...watch })
  }
  const whole = async () => {
    finishing ??= finish().catch((error: unknown) => {
      finishing = undefined
      throw error
    })
    await finishing
    return kb
  }
  const close = async () => {
    const stopWatching = await finishing?.catch(() => undefined)
    await stopWatching?.()
    policyVerdicts(kb, ctx).close()
    await candidateHeads(kb, ctx).close()
    await kbSearch(kb, ctx).close()
    await kbPreviews(kb).close()
    closing.abort()
    await telling
    await kb.close()
    if (cluster !== undefined) await noteUse(kb.repository.gitDir)
  }
  try {
    await kb.prepare()
    whole().catch(() => {}) // The error is thrown to whoever awaits it.
    return { kb, whole, close }
  } catch (error) {
    await kb.close()
    throw error
  }
}

/** Follows changes of the refs by others. A node's copy has no refs of its own that a program could move. */
function followMoves(
  { cluster, database }: Context,
  { identity, repository }: KnowledgeBase,
  following: Parameters<typeof watchRefs>[1],
): () => Promise<void> {
  if (cluster === undefined) return watchRefs(repository.gitDir, following)
  return listenToRefs(database.notifications, identity.id, following)
}

/** Adopts commits that reached main around this server, and reports those that it must not adopt. */
async function adoptOutside(
  { events, now }: Context,
  { identity }: KnowledgeBase,
  adoption: OutsideAdoption,
): Promise<void> {
  const problems = formatFindings(await adoption.adopt())
  if (problems.length === 0) return
  const event = { kbId: identity.id, kind: 'kb.pushed', isCuratorOnly: true, data: { problems } } as const
  await events.append(identity.tenantId, [event], now())
}
