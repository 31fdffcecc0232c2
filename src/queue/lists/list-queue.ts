import type { Awaiting } from '../../contract/envelope.ts'
import { type CandidateStatus, candidateStatuses, type Zone } from '../../contract/vocabulary.ts'
import type { Context } from '../../kb/context.ts'
import { labelOnMain, mainSettings } from '../../kb/kb-access.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import type { CandidateRow } from '../../kb/projection/candidate-index.ts'
import {
  connectorsOf,
  countByZone,
  type QueueFilter,
  type QueuePlace,
  queuePosition,
} from '../../kb/projection/candidate-queue.ts'
import { titleOf } from '../../kb/projection/neuron-queries.ts'
import type { AllTables } from '../../kb/projection/projection.ts'
import type { KbLabel } from '../../kb/readable-kb.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { isOpenToCurators } from '../../rules/deciding.ts'
import { decisionOf } from '../approval.ts'
import { findQueued } from '../describe-candidate.ts'
import { seenOf } from '../heads/judged-head.ts'
import { type BundleEntry, bundleEntry } from '../push-bundle.ts'
import {
  decodeQueueCursor,
  encodeQueueCursor,
  pageAcross,
  type QueuedKb,
  type QueuedRow,
  queuedKbs,
  unavailableAmong,
} from './queue-pages.ts'

/** A curator's view of the queue: of one knowledge base, by slug or id, or of all. */
export type QueueView = Omit<QueueFilter, 'asked'> & {
  kb?: string | undefined
  /** `me`: only what waits for the caller. */
  for?: 'me' | undefined
}

export type QueueQuery = QueueView & { after?: string | undefined; before?: string | undefined; limit: number }

/** Effect of a candidate on main. `title`: present title of the Neuron; undefined if it does not exist. */
type Intent = { does: 'add' } | { does: 'change' | 'remove'; seqId: string; title: string | undefined }

/** Candidate in the queue, as curators see it. */
export type QueueEntry = CandidateRow & {
  kb: string
  /** True if the policy would have approved it, but a rule left it to a curator. */
  isHeldBack: boolean
  intent: Intent
  /** seqId of the Neuron that an approval made or changed. */
  seqId?: string
  /** Approvals that `kb.yaml` still requires. */
  awaiting?: Awaiting | undefined
  /** Bundle whose first pending candidate this is. */
  bundle?: BundleEntry
  /** Value to send with a decision, which fails if the candidate has changed since. */
  seen: string
}

/** Counts go up to 10,000 in one knowledge base; 10,001 means more. */
export type QueueCounts = {
  /** Number of candidates that pass the filter, by status. */
  status: Record<CandidateStatus, number>
  /** Number of candidates that pass the filter, by zone. */
  zone: Record<Zone | 'none', number>
}

export type QueuePage = {
  entries: QueueEntry[]
  next: string | null
  previous: string | null
  counts: QueueCounts
  /** Number of pending candidates that wait for the caller, whatever the other filters. */
  forCaller: number
  /** Connectors of the candidates with the listed status. */
  connectors: string[]
  /** All knowledge bases of the tenant. */
  knowledgeBases: KbLabel[]
  /** Slugs of knowledge bases that cannot be read now: their candidates are missing. */
  unavailable: string[]
}

/**
 * Returns a page of the queue with counts for its filters. Cursors are positions in the order, so that pages do not shift when candidates
 * are decided.
 * @throws {GanglionError} `not_found`
 * @throws {ValidationError} for an unknown cursor
 */
export async function listQueue(
  ctx: Context,
  caller: Caller,
  { kb, for: whose, after, before, limit, ...filter }: QueueQuery,
): Promise<QueuePage> {
  const kbs = await queuedKbs(ctx, caller, kb, whose)
  const place =
    before === undefined
      ? after === undefined
        ? undefined
        : { after: decodeQueueCursor('after', after) }
      : { before: decodeQueueCursor('before', before) }
  const isBack = place !== undefined && 'before' in place
  const found = await pageAcross(kbs, filter, place, limit + 1)
  const rows = isBack ? found.slice(-limit) : found.slice(0, limit)
  const [first, last] = [rows[0], rows.at(-1)]
  const isMore = found.length > limit
  const isBefore = first !== undefined && (isBack ? isMore : await hasMore(kbs, filter, first, 'before'))
  const isAfter = last !== undefined && (isBack ? await hasMore(kbs, filter, last, 'after') : isMore)
  const entries: QueueEntry[] = []
  for (const { kb, row } of rows) {
    const entry = await kb.read((sql) => {
      const bundle = filter.bundles ? bundleEntry(sql, row) : undefined
      return { ...toEntry(kb.identity, sql, row), ...(bundle && { bundle }) }
    })
    if (entry !== undefined) entries.push({ ...entry, awaiting: await awaitedFor(ctx, kb.identity, row) })
  }
  return {
    entries,
    previous: isBefore ? cursorAt(first) : null,
    next: isAfter ? cursorAt(last) : null,
    ...(await countAcross(kbs, filter)),
    forCaller: await countForCaller(ctx, caller, kb),
    knowledgeBases: await namesOf(ctx, caller),
    unavailable: unavailableAmong(kbs),
  }
}

export function toEntry({ slug }: KbIdentity, sql: AllTables, row: CandidateRow): QueueEntry {
  const isPending = row.status === 'pending'
  return {
    ...{ ...row, kb: slug, intent: intentOf(sql, row), seen: seenOf(sql, row) },
    asked: isPending ? row.asked : null,
    isHeldBack: row.approvedByPolicy && isPending,
    ...(row.approval && { seqId: row.approval.seqId }),
  }
}

function intentOf(sql: AllTables, { target, removes }: CandidateRow): Intent {
  if (target === null) return { does: 'add' }
  return { does: removes ? 'remove' : 'change', seqId: target, title: titleOf(sql, target) }
}

/** Counts the pending candidates that wait for the caller. @param kb slug or id of one knowledge base; all by default */
export async function countForCaller(ctx: Context, caller: Caller, kb?: string): Promise<number> {
  return countAll(await queuedKbs(ctx, caller, kb, 'me'), { status: 'pending' })
}

/** Returns the approvals that a pending candidate still needs. Reads it only where `kb.yaml` asks for more than one curator. */
async function awaitedFor(ctx: Context, identity: KbIdentity, row: CandidateRow): Promise<Awaiting | undefined> {
  const deciding = row.status === 'pending' ? (await mainSettings(ctx, identity))?.deciding : undefined
  if (deciding == null || isOpenToCurators(deciding)) return undefined
  const kb = await ctx.kb(identity.tenantId, identity.id)
  return (await decisionOf(kb, parseCandidate(await kb.repository.readText(row.blob)))).awaiting
}

async function hasMore(
  kbs: readonly QueuedKb[],
  filter: QueueFilter,
  { row }: QueuedRow,
  side: 'before' | 'after',
): Promise<boolean> {
  const position = queuePosition(row)
  return (await pageAcross(kbs, filter, side === 'before' ? { before: position } : { after: position }, 1)).length > 0
}

function cursorAt({ row }: QueuedRow): string {
  return encodeQueueCursor(queuePosition(row))
}

async function countAcross(
  kbs: readonly QueuedKb[],
  filter: QueueFilter,
): Promise<Pick<QueuePage, 'counts' | 'connectors'>> {
  const connectors = new Set<string>()
  const counts: QueueCounts = {
    status: { pending: 0, approved: 0, dismissed: 0 },
    zone: { red: 0, yellow: 0, green: 0, none: 0 },
  }
  for (const kb of kbs) {
    const found = await kb.read((sql) =>
      candidateStatuses.map((status) => ({
        status,
        byZone: countByZone(sql, { ...filter, status, zone: undefined, bundles: undefined, asked: kb.asked }),
        connectors: filter.status === undefined || filter.status === status ? connectorsOf(sql, status) : [],
      })),
    )
    for (const { status, byZone, connectors: named } of found ?? []) {
      for (const connector of named) connectors.add(connector)
      for (const zone of ['red', 'yellow', 'green', 'none'] as const) {
        if (filter.zone === undefined || filter.zone === zone) counts.status[status] += byZone[zone]
        if (filter.status === undefined || filter.status === status) counts.zone[zone] += byZone[zone]
      }
    }
  }
  return { counts, connectors: [...connectors].sort() }
}

/** Returns labels without opening the knowledge bases, since a tenant may have many. */
async function namesOf(ctx: Context, { tenantId }: Caller): Promise<KbLabel[]> {
  const labels: KbLabel[] = []
  for (const identity of await ctx.knowledgeBases.list(tenantId)) {
    const { slug, title } = await labelOnMain(ctx, identity)
    labels.push({ slug, title })
  }
  return labels
}

/** Ids of the candidates before and after one in a view of the queue, and the number of candidates; see `QueueCounts`. */
export type Neighbours = { previous: string | undefined; next: string | undefined; count: number }

/** Candidate to review next. `seen`: value of `seenOf` for its present state. */
export type Next = { id: string; seen: string }

/** Returns the candidate after one, which may be decided already: its position remains. @throws {GanglionError} `not_found` */
export async function nextInQueue(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { kb, for: whose, ...filter }: QueueView,
): Promise<Next | undefined> {
  const { row } = await findQueued(ctx, caller, candidateId)
  const kbs = await queuedKbs(ctx, caller, kb, whose)
  const [next] = await pageAcross(kbs, filter, { after: queuePosition(row) }, 1)
  const seen = await next?.kb.read((sql) => seenOf(sql, next.row))
  return next && seen !== undefined ? { id: next.row.id, seen } : undefined
}

export async function neighboursOf(
  ctx: Context,
  caller: Caller,
  row: CandidateRow,
  { kb, for: whose, ...filter }: QueueView,
): Promise<Neighbours> {
  const kbs = await queuedKbs(ctx, caller, kb, whose)
  const at = queuePosition(row)
  const nearest = async (place: QueuePlace) => (await pageAcross(kbs, filter, place, 1))[0]?.row.id
  const [previous, next] = [await nearest({ before: at }), await nearest({ after: at })]
  return { previous, next, count: await countAll(kbs, filter) }
}

async function countAll(kbs: readonly QueuedKb[], filter: QueueFilter): Promise<number> {
  const statuses = filter.status === undefined ? candidateStatuses : [filter.status]
  let sum = 0
  for (const kb of kbs) {
    const zones = await kb.read((sql) =>
      statuses.map((status) => countByZone(sql, { ...filter, status, asked: kb.asked })),
    )
    for (const count of (zones ?? []).flatMap((each) => Object.values(each))) sum += count
  }
  return sum
}
