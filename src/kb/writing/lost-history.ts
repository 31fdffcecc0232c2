import { readRange } from '../../git/history/history.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { PushRange } from '../../git/pushed-objects.ts'
import type { Repository } from '../../git/repository.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { candidateBelongsTo } from '../../rules/candidates/candidate-id.ts'
import { maxPageBytes } from '../../rules/check/checked-file.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { parseRemovals, serverDomain } from '../refs/commit-message.ts'

/** Ids that the server assigned before a restore, which the server's own commits in a clone's history show. */
export type LostHistory = {
  /** seqIds of their Neurons, none above the floor of the restore. */
  seqIds: ReadonlySet<string>
  /** Last page with a back-pointer to each candidate. */
  pages: ReadonlyMap<string, { seqId: string | undefined; blob: Oid }>
  /** Candidate that removed each Neuron, by seqId. */
  removals: ReadonlyMap<string, string>
}

export const noLostHistory: LostHistory = { seqIds: new Set(), pages: new Map(), removals: new Map() }

/**
 * Reads the ids that the server's own commits in a push assigned. Returns nothing if no backup was restored: main then has all of
 * them. The server's commits are recognised by their author, which survives a rebase. Anybody can forge an author, so the caller
 * must check for conflicts with other Neurons.
 * @throws {GitError}
 */
export async function readLostHistory(
  { identity, projection }: KnowledgeBase,
  range: PushRange,
  { repository }: { repository: Repository },
): Promise<LostHistory> {
  const floor = projection.seqFloor()
  if (floor === 0) return noLostHistory
  const removals = new Map<string, string>()
  const blobs = new Set<Oid>()
  for await (const { changes, trailers } of readRange(repository, range, { author: serverDomain })) {
    for (const { seqId, candidateId } of parseRemovals(trailers)) {
      if (candidateBelongsTo(candidateId, identity.id)) removals.set(seqId, candidateId)
    }
    for (const { path, after } of changes) if (after !== undefined && isNeuronPath(path)) blobs.add(after)
  }
  const seqIds = new Set<string>()
  const pages = new Map<string, { seqId: string | undefined; blob: Oid }>()
  for (const [blob, { size }] of await repository.infos(blobs)) {
    if (size > maxPageBytes) continue
    const { seqId, candidate } = parseNeuronFile(await repository.readTextOnce(blob)).fields
    const { prefix, number = 0 } = parseSeqId(seqId ?? '') ?? {}
    if (seqId !== undefined && prefix === identity.prefix && number <= floor) seqIds.add(seqId)
    if (candidate !== undefined && candidateBelongsTo(candidate, identity.id)) pages.set(candidate, { seqId, blob })
  }
  return { seqIds, pages, removals }
}
