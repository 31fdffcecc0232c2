import type { EventData, LoggedEvent } from '../contract/events.ts'
import { type KbView, viewFor } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import { isPassing } from '../kb/failure.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate, pendingBelow, presentBelow } from '../kb/projection/candidate-index.ts'
import { tryParseCandidate } from '../markdown/file/candidate-file.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import { ingestConnector } from '../rules/candidates/candidate.ts'
import { originPrefix } from '../sources/ingest/source-candidate.ts'
import type { StoredEvent } from '../state/event-store.ts'
import type { Source } from '../state/sources/source.ts'
import { inUse } from '../system/concurrency/present-work.ts'

export type EventListener = Pick<Caller, 'tenantId' | 'role' | 'id' | 'name'>

type Sight = { kb: KnowledgeBase; view: KbView }

/**
 * Events of a tenant as one listener may see them: now, and when they happened. Curators see everything; readers see
 * events of Neurons only.
 */
export class EventView {
  readonly #ctx: Context
  readonly #listener: EventListener
  readonly #isList: boolean
  /** Cached Sources. After its text is extracted, nothing that decides who sees a Source changes. */
  readonly #sources = new Map<string, Source>()

  /** Creates a view. @param options `isList`: true to leave out knowledge bases that cannot be opened just now */
  constructor(ctx: Context, listener: EventListener, { isList = false } = {}) {
    this.#ctx = ctx
    this.#listener = listener
    this.#isList = isList
  }

  async tell(events: readonly StoredEvent[]): Promise<LoggedEvent[]> {
    const told: LoggedEvent[] = []
    for (let from = 0; from < events.length; ) {
      const kbId = events[from]?.kbId
      const others = events.findIndex((event, index) => index > from && event.kbId !== kbId)
      const to = others === -1 ? events.length : others
      // A long-lived stream must not keep all knowledge bases open.
      told.push(...(await inUse(() => this.#tellOfOne(events.slice(from, to)))))
      from = to
    }
    return told
  }

  async #tellOfOne(events: readonly StoredEvent[]): Promise<LoggedEvent[]> {
    const sights = new Map<string, Promise<Sight | undefined>>()
    const told: LoggedEvent[] = []
    for (const event of events) {
      const { id, kbId, kind, at } = event
      const isCurator = this.#listener.role === 'curator'
      const seen = isCurator ? event.data : await this.#dataFor(event, sights)
      const isAsked = kind === 'candidate.changes-requested' && (isCurator || this.#isSender(event))
      const data = seen && isAsked ? { ...seen, ...(await this.#askedIn(event, sights)) } : seen
      if (data !== undefined) told.push({ id, kind, tenantId: this.#listener.tenantId, kbId, at, ...data })
    }
    return told
  }

  /** Returns the data of an event that the listener may see, all or a part; undefined for a hidden event. */
  async #dataFor(event: StoredEvent, sights: Map<string, Promise<Sight | undefined>>): Promise<EventData | undefined> {
    const { kbId, kind, data, isCuratorOnly } = event
    if (this.#listener.role === 'reader') return this.#dataForReader(event, sights)
    // Comments and assignments of curators are hidden from the sender, too.
    const isTalk = kind === 'candidate.commented' || kind === 'candidate.assigned'
    const isOwn = this.#isSender(event) && !isTalk
    if (!isCuratorOnly && kind === 'kb.pushed') return data
    const sight = isCuratorOnly ? undefined : await this.#sight(kbId, sights)
    if (sight !== undefined && (await this.#sees(event, sight))) return this.#countsFor(data, sight)
    const { candidateId, status } = data
    return isOwn ? { ...(candidateId && { candidateId }), ...(status && { status }) } : undefined
  }

  #isSender({ candidate }: StoredEvent): boolean {
    return candidate?.sender === actorOf(this.#listener).id
  }

  /** Returns what a curator asked to change, by the record, from which it may have been erased since. */
  async #askedIn({ kbId, data, candidate }: StoredEvent, sights: Map<string, Promise<Sight | undefined>>) {
    const kb = (await this.#sight(kbId, sights))?.kb
    const row = kb && findCandidate(kb.projection.read, data.candidateId ?? '')
    const record = row && tryParseCandidate(await kb.repository.readTextOnce(row.blob))
    const { reason, lines } = record?.decisions[candidate?.decision ?? -1] ?? {}
    return { ...(reason && { reason }), ...(lines && { lines }) }
  }

  /** Returns the data of an event for a reader, without the candidate and the Source of a Neuron. */
  async #dataForReader(
    { kbId, kind, data: { seqId, commit }, isCuratorOnly }: StoredEvent,
    sights: Map<string, Promise<Sight | undefined>>,
  ): Promise<EventData | undefined> {
    if (isCuratorOnly || !kind.startsWith('neuron.') || seqId === undefined) return undefined
    const sight = await this.#sight(kbId, sights)
    if (sight === undefined || !(await sight.view.seesHistory(seqId))) return undefined
    return { seqId, ...(commit && { commit }) }
  }

  /** Returns the view of a knowledge base; undefined if it is damaged or not served, so that its access rules cannot be read. */
  #sight(kbId: string, sights: Map<string, Promise<Sight | undefined>>): Promise<Sight | undefined> {
    const open = async () => {
      try {
        const kb = await this.#ctx.kb(this.#listener.tenantId, kbId)
        return { kb, view: await viewFor(this.#listener, kb) }
      } catch (error) {
        if (!this.#isList && isPassing(error)) throw error
        return undefined
      }
    }
    const sight = sights.get(kbId) ?? open()
    sights.set(kbId, sight)
    return sight
  }

  /**
   * Returns the counts of an ingest, without Neurons that the listener may not see now, and without their candidates. Removed
   * Neurons do not count either, because otherwise the counts would reveal hidden ones.
   */
  async #countsFor(data: EventData, { kb, view }: Sight): Promise<EventData> {
    const { neurons = 0, pending = 0, documentId = '' } = data
    const source = neurons + pending === 0 ? undefined : await this.#source(documentId)
    if (source === undefined) return data
    const { read: sql } = kb.projection
    const prefix = originPrefix(source.editionOf)
    const isSeen = (seqId: string | null) => seqId === null || view.seesNeuron(seqId)
    const seen = presentBelow(sql, ingestConnector, prefix).filter(({ seqId }) => isSeen(seqId))
    const waiting = pendingBelow(sql, ingestConnector, prefix).filter(({ target }) => isSeen(target))
    return { ...data, neurons: Math.min(neurons, seen.length), pending: Math.min(pending, waiting.length) }
  }

  async #sees({ data, candidate }: StoredEvent, { kb, view }: Sight): Promise<boolean> {
    const { seqId, candidateId, documentId } = data
    if (seqId !== undefined) return view.seesHistory(seqId)
    if (candidateId !== undefined) {
      const neuron = findCandidate(kb.projection.read, candidateId)?.approval?.seqId ?? candidate?.target ?? undefined
      if (neuron !== undefined) return view.seesHistory(neuron)
      return candidate !== undefined && view.sees(candidate)
    }
    const source = documentId === undefined ? undefined : await this.#source(documentId)
    return source !== undefined && view.seesSource(source)
  }

  async #source(documentId: string): Promise<Source | undefined> {
    const known = this.#sources.get(documentId)
    if (known !== undefined) return known
    const source = await this.#ctx.sources.find(this.#listener.tenantId, documentId)
    if (source?.extractedAt != null) this.#sources.set(documentId, source)
    return source
  }
}
