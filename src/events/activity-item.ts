import type { EventKind, LoggedEvent } from '../contract/events.ts'
import { authorOfCommit } from '../git/objects/object.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate, isApprovedIn } from '../kb/projection/candidate-index.ts'
import { titleOf } from '../kb/projection/neuron-queries.ts'
import { lastBlob } from '../kb/projection/version-queries.ts'
import { undoOf } from '../kb/projection/written-versions.ts'
import { kbLabel } from '../kb/readable-kb.ts'
import { serverDomain } from '../kb/refs/commit-message.ts'
import { tryParseCandidate } from '../markdown/file/candidate-file.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { inUse } from '../system/concurrency/present-work.ts'
import { pauses } from '../system/pauses.ts'

export type ActivityItem = {
  id: number
  kind: EventKind
  at: string
  kb: { slug: string; title: string }
  /** Name of the person. Null: the policy. Undefined: nobody in particular, or unknown. */
  by: string | null | undefined
  subject: ActivitySubject | undefined
  /** Reason why a candidate was dismissed, or an ingest failed. */
  reason?: string | undefined
  /** Problems of the pushed commits. */
  problems?: readonly string[] | undefined
  /** Number of Neurons that an ingest wrote. */
  neurons?: number | undefined
  /** True if an approval made this change of a Neuron. The approval is an item of its own. */
  isApproval: boolean
  /** Parameters of the undo of an approval, if requested. */
  undo?: ReturnType<typeof undoOf>
}

type ActivitySubject = { title: string } & (
  | { candidateId: string; seqId?: string }
  | { seqId: string; candidateId?: undefined }
  | { documentId: string; seqId?: undefined; candidateId?: undefined }
)

/** Describes events for people. Create one for each page of events. */
export class ActivityTeller {
  readonly #ctx: Context
  readonly #tenantId: string
  readonly #tellsUndo: boolean
  readonly #skipsApprovals: boolean
  /** Authors of the commits that were read. */
  readonly #authors = new Map<string, Promise<string | null | undefined>>()

  /** @param options `skipsApprovals`: whether the change of a Neuron by an approval is left out */
  constructor(ctx: Context, tenantId: string, { tellsUndo = false, skipsApprovals = false } = {}) {
    this.#ctx = ctx
    this.#tenantId = tenantId
    this.#tellsUndo = tellsUndo
    this.#skipsApprovals = skipsApprovals
  }

  /** Returns the items of events, the latest first, without events of knowledge bases that cannot be opened. */
  async tell(events: readonly LoggedEvent[]): Promise<ActivityItem[]> {
    const items: ActivityItem[] = []
    const pause = pauses()
    for (const [kbId, ofKb] of Map.groupBy(events, (event) => event.kbId)) {
      await inUse(async () => {
        const kb = await this.#ctx.kb(this.#tenantId, kbId).catch(() => undefined)
        if (kb === undefined) return
        const label = await kbLabel(kb)
        for (const event of ofKb) {
          await pause()
          const details = await this.#details(kb, event)
          if (details === undefined) continue
          const { id, kind, at } = event
          items.push({ id, kind, at, kb: label, by: undefined, subject: undefined, isApproval: false, ...details })
        }
      })
    }
    return items.sort((one, other) => other.id - one.id)
  }

  async #details(kb: KnowledgeBase, event: LoggedEvent): Promise<Partial<ActivityItem> | undefined> {
    const { kind, documentId, commit, problems } = event
    if (kind.startsWith('candidate.')) return this.#ofCandidate(kb, event)
    if (kind.startsWith('neuron.')) return this.#ofNeuron(kb, event)
    if (kind === 'kb.pushed') return { by: await this.#authorOf(kb, commit), problems }
    const source = documentId === undefined ? undefined : await this.#ctx.sources.find(this.#tenantId, documentId)
    if (source === undefined) return {}
    return {
      subject: { title: source.filename, documentId: source.id },
      by: kind === 'source.uploaded' ? source.uploader.name : undefined,
      reason: event.error,
      neurons: event.neurons,
    }
  }

  async #ofCandidate(
    kb: KnowledgeBase,
    { kind, at, candidateId = '', commit }: LoggedEvent,
  ): Promise<Partial<ActivityItem>> {
    const row = findCandidate(kb.projection.read, candidateId)
    if (row === undefined) return {}
    const { title, createdBy, reverts, reason, approval } = row
    const subject = { title, candidateId, ...(approval === undefined ? {} : { seqId: approval.seqId }) }
    if (kind === 'candidate.approved') {
      return { subject, by: await this.#authorOf(kb, commit), undo: this.#undoOf(kb, candidateId) }
    }
    if (kind === 'candidate.created') return { subject, by: createdBy, ...(reverts && { reason }) }
    const candidate = tryParseCandidate(await kb.repository.readTextOnce(row.blob))
    const action = kind === 'candidate.dismissed' ? 'dismiss' : 'reopen'
    // The event is logged after the decision is recorded.
    const decision = candidate?.decisions.findLast((each) => each.action === action && each.at <= at)
    return { subject, by: decision?.by.name, reason: decision?.reason }
  }

  async #ofNeuron(
    kb: KnowledgeBase,
    { seqId = '', candidateId, commit = '' }: LoggedEvent,
  ): Promise<Partial<ActivityItem> | undefined> {
    const { read: sql } = kb.projection
    const isApproval = candidateId !== undefined && isApprovedIn(sql, candidateId, { seqId, commit })
    if (isApproval && this.#skipsApprovals) return undefined
    return {
      subject: { title: titleOf(sql, seqId) ?? (await lastTitle(kb, seqId)), seqId },
      by: await this.#authorOf(kb, commit),
      isApproval,
      undo: isApproval ? this.#undoOf(kb, candidateId) : undefined,
    }
  }

  #undoOf({ projection }: KnowledgeBase, candidateId = ''): ActivityItem['undo'] {
    return this.#tellsUndo ? undoOf(projection.read, candidateId) : undefined
  }

  #authorOf(kb: KnowledgeBase, commit = ''): Promise<string | null | undefined> {
    const author = this.#authors.get(commit) ?? authorOf(kb, commit)
    this.#authors.set(commit, author)
    return author
  }
}

/** Returns the name of a commit's author; null for the policy. */
async function authorOf({ repository }: KnowledgeBase, commit: string): Promise<string | null | undefined> {
  const object = commit === '' ? undefined : await repository.find(commit)
  if (object === undefined) return undefined
  const { name, email } = authorOfCommit(object.data)
  return email === `policy${serverDomain}` ? null : name
}

/** The title that a deleted Neuron had. */
async function lastTitle(kb: KnowledgeBase, seqId: string): Promise<string> {
  const blob = lastBlob(kb.projection.read, seqId)
  if (blob === undefined) return seqId
  return parseNeuronFile(await kb.repository.readTextOnce(blob)).fields.title ?? seqId
}
