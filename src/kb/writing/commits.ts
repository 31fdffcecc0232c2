import { GanglionError } from '../../contract/errors.ts'
import { trailersOf } from '../../git/history/trailers.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Staging } from '../../git/staging.ts'
import { formatCandidate, parseCandidate, roomInRecord } from '../../markdown/file/candidate-file.ts'
import { type Actor, type Candidate, candidatePath, type Decision } from '../../rules/candidates/candidate.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { firstComeNeurons } from '../../rules/neurons/first-come.ts'
import { inZone } from '../../rules/policy.ts'
import { readForIndex } from '../follow/followed-kb.ts'
import type { FileContents, KnowledgeBase } from '../knowledge-base.ts'
import { hasCandidate, indexCandidate, pendingForTarget } from '../projection/candidate-index.ts'
import { indexCommit } from '../projection/neuron-index.ts'
import { freeNumberAfter, highestNumber } from '../projection/version-queries.ts'
import { commitMessage, committer, type Removal, removalTrailers, signatureOf } from '../refs/commit-message.ts'
import { formatSeqFloor, mainRef, queueRef, seqFloorPath } from '../refs/kb-refs.ts'
import { admitted, requirePlaces } from '../within-limits.ts'
import { approverTrailers, awaitedApprovals, type Decided } from './approvals.ts'

type Trailers = readonly (readonly [name: string, value: string])[]

type MainCommit = {
  files: FileContents
  /** Neurons that the commit deletes. */
  removals?: readonly Removal[]
  /** Neurons that already have a candidate's text; only if no file changes. The trailers must name them. */
  unchanged?: readonly Removal[]
  subject: string
  /** Trailers to write before those for the approvers and the removals. */
  trailers?: Trailers
  /** Decision on the commit, by its author; `operator`: somebody with direct access to the repository. */
  decided: (Decided & { by: Actor }) | { operator: Actor }
  at: Date
  /** Second parent of a merge. Then `files` are all differences from main. */
  mergeParent?: Oid
}

/**
 * Stages one commit on main and its place in the projection; the only way to main in this process. Must run within a write.
 * @throws {GanglionError} `approval_needed`; `insufficient_role` for files that the author's key may not write
 */
export async function commitToMain(
  kb: KnowledgeBase,
  staging: Staging,
  { files, removals = [], unchanged = [], subject, trailers = [], decided, at, mergeParent }: MainCommit,
): Promise<Oid> {
  let approvers: Trailers = []
  if ('by' in decided) {
    const awaiting = await awaitedApprovals(kb, staging, files, decided)
    if (awaiting !== undefined) throw new GanglionError('approval_needed', awaitingText(awaiting), { awaiting })
    // Changes by candidates are limited when the candidates are written.
    if (decided.of.length === 0) await requirePlaces(kb, decided.by, { neurons: [], files: files.keys() })
    approvers = await approverTrailers(kb, staging, decided)
  }
  const message = commitMessage(subject, [...trailers, ...approvers, ...removalTrailers(removals)])
  const changes = new Map<string, { oid: Oid } | null>()
  const indexing = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(async ([path, content]) => {
      if (content === null) {
        changes.set(path, null)
        return { path, mode: '100644', blob: undefined, neuron: undefined }
      }
      const isBlob = typeof content === 'object' && 'oid' in content
      const blob = isBlob ? content.oid : staging.putBlob(content)
      changes.set(path, { oid: blob })
      const read = async () => (isBlob ? kb.repository.readTextOnce(blob) : content.toString())
      return { path, mode: '100644', blob, ...(await readForIndex(kb.parser, path, read)) }
    })
  const indexed = await Promise.all(indexing)
  const author = signatureOf('by' in decided ? decided.by : decided.operator, at)
  const commit = await staging.commit(mainRef, {
    ...{ changes, message, author, committer: committer(at) },
    ...(mergeParent !== undefined && { mergeParent }),
  })
  // Git stores whole seconds, and the projection must not be more precise than git.
  const seconds = new Date(Math.floor(at.getTime() / 1000) * 1000)
  const told = { removals, unchanged, firstCome: firstComeNeurons(trailersOf(message)) }
  const load = async (path: string, blob: Oid) =>
    (await readForIndex(kb.parser, path, () => kb.repository.readTextOnce(blob))).neuron
  await indexCommit(kb.projection, { commit, at: seconds, files: indexed, ...told }, load)
  return commit
}

/**
 * Stages one commit on the queue with the present records of candidates, if there are any. It is the only way for candidates, and so
 * enforces the limits of keys, and gives new ones their zone. Must run within a write.
 * @param options.isTaken true if they are on their way to main
 */
export async function commitToQueue(
  kb: KnowledgeBase,
  staging: Staging,
  sent: readonly Candidate[],
  {
    by,
    at,
    isTaken = false,
    message = proposalMessage(sent),
  }: { by: Actor; at: Date; isTaken?: boolean; message?: string },
): Promise<void> {
  if (sent.length === 0) return
  const settings = await kb.settings(staging)
  const isNew = ({ id }: Candidate) => !hasCandidate(kb.projection.write, id)
  const zoned = sent.map((candidate) => (!isTaken && isNew(candidate) ? inZone(candidate, settings) : candidate))
  const candidates = await admitted(kb, zoned, isTaken)
  const blobs = candidates.map((candidate) => ({ candidate, oid: staging.putBlob(formatCandidate(candidate)) }))
  const changes = new Map(blobs.map(({ candidate, oid }) => [candidatePath(candidate.id), { oid }]))
  await staging.commit(queueRef, { changes, message, author: signatureOf(by, at), committer: committer(at) })
  for (const { candidate, oid } of blobs) indexCandidate(kb.projection, candidate, oid)
}

const verbs: Partial<Record<Decision['action'], string>> = { approve: 'Vote for', reopen: 'Reopen', dismiss: 'Dismiss' }

/** Returns the message of the queue's commit with several candidates. `part`: what the subject says after their number. */
export function proposalMessage(candidates: readonly Candidate[], part = ''): string {
  const [first] = candidates
  const what = candidates.length === 1 ? `"${first?.title}"` : `${candidates.length} changes of Neurons`
  const [action, ...others] = new Set(candidates.map(({ decisions }) => decisions.at(-1)?.action))
  const verb = (others.length === 0 && action && verbs[action]) || 'Propose'
  const ids = candidates.map(({ id }): [string, string] => ['Candidate', id])
  return commitMessage(`${verb} ${what}${part}`, [...ids, ['Connector', first?.connector ?? '']])
}

const maxComments = 200
/** Bytes of a record that comments and versions of its sender may not use, so that later decisions still fit. */
export const keptForDecisions = 64 * 1024

export async function recordCandidate(
  kb: KnowledgeBase,
  staging: Staging,
  candidate: Candidate,
  verb: 'Propose' | 'Dismiss' | 'Reopen' | 'Comment on' | 'Revise' | 'Ask for changes of' | 'Assign',
): Promise<void> {
  const { id, kind, connector, title, createdBy, createdAt } = candidate
  const { by, at } = candidate.decisions.at(-1) ?? { by: createdBy, at: createdAt }
  const message = commitMessage(`${verb} "${title}"`, { Candidate: id, Kind: kind, Connector: connector })
  await commitToQueue(kb, staging, [candidate], { by, at: new Date(at), message })
}

/** Returns the pending candidates of a connector for a Neuron. Must run within a write. */
export async function pendingRecords(
  kb: KnowledgeBase,
  staging: Staging,
  of: Parameters<typeof pendingForTarget>[1],
): Promise<Candidate[]> {
  const rows = pendingForTarget(kb.projection.write, of)
  return Promise.all(rows.map(async ({ blob }) => parseCandidate(await staging.readText(blob))))
}

export function withDecision(candidate: Candidate, decision: Decision): Candidate {
  const decisions = [...candidate.decisions, decision]
  const isComment = decision.action === 'comment'
  const comments = decisions.filter(({ action }) => action === 'comment').length
  const room = roomInRecord({ ...candidate, decisions }) - (isComment ? keptForDecisions : 0)
  if (room < 0 || (isComment && comments > maxComments)) throw new GanglionError('record_full')
  return { ...candidate, decisions }
}

/** Returns the number of the next seqId: above every assigned one, and above the floor of a restore; never one that main had. */
export function nextNumber({ projection }: KnowledgeBase): number {
  return freeNumberAfter(projection.write, Math.max(highestNumber(projection.write), projection.seqFloor()))
}

/** Returns a function that gives the numbers of the next seqIds. Must run within a write, before any of them is staged. */
export function nextNumbers(kb: KnowledgeBase): () => number {
  let number: number | undefined
  return () => {
    number = number === undefined ? nextNumber(kb) : freeNumberAfter(kb.projection.write, number)
    return number
  }
}

/** Reserves all seqIds up to the number `floor`. Must run within a write. */
export async function raiseSeqFloor(
  kb: KnowledgeBase,
  staging: Staging,
  { floor, actor, at }: { floor: number; actor: Actor; at: Date },
): Promise<void> {
  await staging.commit(queueRef, {
    changes: new Map([[seqFloorPath, formatSeqFloor(floor)]]),
    message: commitMessage(`Begin seqIds above ${floor}`, { 'Knowledge-Base': kb.identity.id }),
    author: signatureOf(actor, at),
    committer: committer(at),
  })
  kb.projection.setSeqFloor(floor)
}
