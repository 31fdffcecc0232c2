import { createHash } from 'node:crypto'
import { GanglionError } from '../contract/errors.ts'
import { hashObject } from '../git/objects/object.ts'
import type { Staging } from '../git/staging.ts'
import { type Context, emitAct } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { type CandidateRow, findCandidate } from '../kb/projection/candidate-index.ts'
import { bundleOf, type Mate } from '../kb/projection/candidate-queue.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import type { AllTables } from '../kb/projection/projection.ts'
import { mainRef } from '../kb/refs/kb-refs.ts'
import { commitToQueue, withDecision } from '../kb/writing/commits.ts'
import { mergedTestFiles } from '../kb/writing/merge-candidate.ts'
import { approvalTrailers, subjectOf } from '../kb/writing/push-main.ts'
import { PushRefused } from '../kb/writing/pushed-neurons.ts'
import { takeNeurons, takePictures } from '../kb/writing/take-neurons.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { actorOf, bareId, type Caller } from '../rules/access/caller.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { folderChanges } from '../rules/paths/folder-changes.ts'
import { pathKey } from '../rules/paths/portable-path.ts'
import { counted } from '../rules/text/numbers.ts'
import { type Approver, type Landing, landPages, proposalViewOf, recordVotes } from './approval.ts'
import { candidateChange } from './heads/candidate-change.ts'
import { seenOf } from './heads/judged-head.ts'

/** Pending candidates of a push, as one entry of the queue. `says`: lines that describe what they change. */
export type BundleEntry = { members: { id: string; title: string; isEdited: boolean }[]; says: string[]; seen: string }

export function bundleEntry(sql: AllTables, row: CandidateRow): BundleEntry | undefined {
  const mates = bundleOf(sql, row)
  if (mates.length < 2) return undefined
  const pages = mates.map((mate) => ({
    ...mate,
    movedFrom: mate.removes ? undefined : leftBy(sql, mate),
    verb: verbOf(sql, mate),
    isEdited: isEdited(sql, mate),
  }))
  const { folders, others } = folderChanges(pages)
  const says = folders.map(({ from, to, pages }) => {
    if (to === undefined) return `Removes ${pages.length} pages from ${from}`
    const edited = pages.filter((page) => page.isEdited).length
    return `Moves ${pages.length} pages from ${from} to ${to}${edited === 0 ? '' : ` and changes ${edited} of them`}`
  })
  for (const verb of ['Adds', 'Restores', 'Changes', 'Removes']) {
    const { length } = others.filter((page) => page.verb === verb)
    if (length > 0) says.push(`${verb} ${counted(length, 'page')}`)
  }
  return {
    members: pages.map(({ id, title, isEdited }) => ({ id, title, isEdited })),
    says,
    seen: createHash('sha256')
      .update(mates.map((mate) => `${mate.id} ${seenOf(sql, mate)}\n`).join(''))
      .digest('hex'),
  }
}

function verbOf(sql: AllTables, { target, removes }: Mate): string {
  if (removes) return 'Removes'
  if (target === null) return 'Adds'
  return findNeuron(sql, target) === undefined ? 'Restores' : 'Changes'
}

/** True if the pushed file differs from that on main, even at another path. */
function isEdited(sql: AllTables, { target, removes, pushed }: Mate): boolean {
  const now = target === null ? undefined : findNeuron(sql, target)
  return !removes && now !== undefined && now.blob !== pushed
}

/** Returns the path on main from which the candidate removes or moves the page. */
function leftBy(sql: AllTables, { target, path, removes }: Mate): string | undefined {
  const place = target === null ? undefined : findNeuron(sql, target)?.path
  return removes || place !== path ? place : undefined
}

/** Bundle of a candidate, with the `seen` value under which it was reviewed. */
type JudgedBundle = { candidateId: string; seen: string }

/** Candidates of a bundle, and the paths that they free for each other. */
type WaitingBundle = { records: readonly Candidate[]; leaves: ReadonlySet<string> }

/**
 * Approves the pending candidates of a push as a curator: all of them become one commit on main, or none does, or votes are recorded for
 * all if more approvals are needed. Returns the candidates' ids.
 * @throws {GanglionError} `not_found`, `not_pending`, `stale_head` if it has changed since it was seen, `merge_conflict` with the
 * `candidates` that conflict with main
 */
export function approveBundle(ctx: Context, caller: Caller, judged: JudgedBundle): Promise<string[]> {
  return decideBundle(ctx, caller, judged, (kb, staging, bundle) =>
    approveBundleStaged(kb, staging, bundle, { by: actorOf(caller), at: ctx.now() }),
  )
}

/** Runs {@link approveBundle} within a group commit. Throws only before it stages anything. */
async function approveBundleStaged(
  kb: KnowledgeBase,
  staging: Staging,
  { records, leaves }: WaitingBundle,
  { by, at }: Approver,
): Promise<'approve' | 'vote'> {
  const [view, main] = [{ ...proposalViewOf(kb, staging), leaves }, staging.head(mainRef) ?? '']
  const found = await Promise.all(records.map((record) => candidateChange(view, main, record)))
  const changes = found.flatMap((change) => (change?.merges ? [change] : []))
  const merging = new Set(changes.map(({ candidate, path, text }) => (text === null ? candidate.id : pathKey(path))))
  if (merging.size < records.length) {
    const candidates = records.flatMap(({ id }, at) => (found[at]?.merges ? [] : [id]))
    throw new GanglionError('merge_conflict', undefined, { candidates })
  }
  const neurons = changes.map(({ candidate, target, path, text }) => ({
    ...{ seqId: candidate.target ?? undefined, before: target, path, text },
    blob: text === null ? undefined : hashObject('blob', Buffer.from(text)),
    removal: text === null ? candidate.id : undefined,
  }))
  const { pages, files: pictures } = await takePictures(kb, neurons)
  const tests = await mergedTestFiles(view, records)
  const moved = changes.flatMap(({ movedFrom }) => (movedFrom === undefined ? [] : [[movedFrom, null] as const]))
  const taking = await takeNeurons(kb, staging, pages, {
    ...{ actor: by, at },
    origin: { door: 'main', by: bareId(by) },
    reason: 'approved with a push',
  }).catch((error: unknown) => {
    throw error instanceof PushRefused ? new GanglionError('merge_conflict') : error
  })
  const landing: Landing = {
    ...{ candidates: taking.candidates, removals: taking.removals, decided: { of: changes } },
    files: new Map<string, string | Buffer | null>([...moved, ...tests, ...pictures, ...taking.files]),
    subject: subjectOf(taking.neurons),
    trailers: [...approvalTrailers(taking.neurons), ['Connector', records[0]?.connector ?? 'git']],
  }
  const landed = await landPages(kb, staging, landing, { by, at })
  if ('commit' in landed) return 'approve'
  await recordVotes(kb, staging, changes, { by, at, ...landed })
  return 'vote'
}

/** Dismisses the pending candidates of a push as a curator. @throws {GanglionError} as {@link approveBundle}, and `record_full` */
export function dismissBundle(
  ctx: Context,
  caller: Caller,
  { reason, ...judged }: JudgedBundle & { reason?: string | undefined },
): Promise<string[]> {
  return decideBundle(ctx, caller, judged, async (kb, staging, { records }) => {
    const [by, at] = [actorOf(caller), ctx.now()]
    const decision = {
      action: 'dismiss',
      at: at.toISOString(),
      by,
      ...(reason === undefined ? {} : { reason }),
    } as const
    const candidates = records.map((record) => withDecision(record, decision))
    await commitToQueue(kb, staging, candidates, { by, at })
    return 'dismiss'
  })
}

async function decideBundle(
  ctx: Context,
  caller: Caller,
  { candidateId, seen }: JudgedBundle,
  work: (kb: KnowledgeBase, staging: Staging, bundle: WaitingBundle) => Promise<'approve' | 'dismiss' | 'vote'>,
): Promise<string[]> {
  const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
  const { ids, act } = await kb.write(async (staging) => {
    const { write: sql } = kb.projection
    const row = findCandidate(sql, candidateId)
    if (row === undefined) throw new GanglionError('not_found')
    if (row.status !== 'pending') throw new GanglionError('not_pending')
    if (bundleEntry(sql, row)?.seen !== seen) throw new GanglionError('stale_head')
    const bundle = await waitingBundle(sql, staging, bundleOf(sql, row))
    return { ids: bundle.records.map(({ id }) => id), act: await work(kb, staging, bundle) }
  })
  const status = { approve: 'approved', dismiss: 'dismissed', vote: 'pending' } as const
  for (const _ of ids) emitAct(ctx, act === 'vote' ? 'approve' : act, { status: status[act] })
  return ids
}

async function waitingBundle(sql: AllTables, staging: Staging, mates: readonly Mate[]): Promise<WaitingBundle> {
  const records = await Promise.all(mates.map(async ({ blob }) => parseCandidate(await staging.readText(blob))))
  return { records, leaves: new Set(mates.flatMap((mate) => leftBy(sql, mate) ?? [])) }
}

/**
 * Approves the bundle of a candidate, if it has one and all members are among the requested candidates. Must run within a group commit.
 * @returns the approved candidates
 * @throws {GanglionError} as {@link approveBundle}
 */
export async function approveWholeBundle(
  kb: KnowledgeBase,
  staging: Staging,
  { candidateId, among }: { candidateId: string; among: ReadonlySet<string> },
  approver: Approver,
): Promise<string[]> {
  const { write: sql } = kb.projection
  const row = findCandidate(sql, candidateId)
  const mates = row === undefined ? [] : bundleOf(sql, row)
  if (mates.length < 2 || !mates.every(({ id }) => among.has(id))) return []
  await approveBundleStaged(kb, staging, await waitingBundle(sql, staging, mates), approver)
  return mates.map(({ id }) => id)
}
