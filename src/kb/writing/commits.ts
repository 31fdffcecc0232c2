import { GanglionError } from '../../contract/errors.ts'
import { trailersOf } from '../../git/history/trailers.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Staging } from '../../git/staging.ts'
import { formatCandidate } from '../../markdown/file/candidate-file.ts'
import { type Actor, type Candidate, candidatePath, type Decision } from '../../rules/candidates/candidate.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { firstComeNeurons } from '../../rules/neurons/first-come.ts'
import { inZone } from '../../rules/policy.ts'
import { readForIndex } from '../follow/followed-kb.ts'
import type { FileContents, KnowledgeBase } from '../knowledge-base.ts'
import { hasCandidate, indexCandidate } from '../projection/candidate-index.ts'
import { indexCommit } from '../projection/neuron-index.ts'
import { commitMessage, committer, type Removal, removalTrailers, signatureOf } from '../refs/commit-message.ts'
import { mainRef, queueRef } from '../refs/kb-refs.ts'
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
