import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { everyVersion, type VersionRecord } from '../../kb/projection/version-queries.ts'
import { isByServer } from '../../kb/refs/commit-message.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { oneLine } from '../../rules/text/lines.ts'
import type { CheckedIndex } from '../../search/check-index.ts'
import { blobOfVersion } from '../../search/kb/neuron-document.ts'
import { firstOf, problems, type VerifyProblem } from './verification.ts'

/** Maximum versions that are read at a time. */
const chunkVersions = 500

/**
 * Verifies candidates and seqIds in main's history: each candidate became one version of one Neuron, and is on the queue; no seqId was
 * assigned to two documents, and no document had two. A pushed version may have an older back-pointer, or none.
 * @throws {GitError}
 */
export async function verifyHistory(
  kb: KnowledgeBase,
  candidateIds: ReadonlySet<string>,
): Promise<{ problems: VerifyProblem[]; notes: string[] }> {
  const versions = everyVersion(kb.projection.read)
  const approvals: string[] = []
  const pushed: string[] = []
  const approvedBy = new Map<string, VersionRecord>()
  for (const version of versions) {
    const { candidateId } = version
    const what = `${describe(version)} ${candidateId === null ? 'has no candidate' : `has the candidate ${oneLine(candidateId, 100)}`}`
    if (candidateId !== null && !candidateIds.has(candidateId)) approvals.push(`${what}, which is not on the queue`)
    const first = candidateId === null ? undefined : approvedBy.get(candidateId)
    if (candidateId !== null && first === undefined) approvedBy.set(candidateId, version)
    else if (!isByServer((await kb.repository.read(version.commit)).data)) pushed.push(what)
    else approvals.push(first === undefined ? what : `${what}, which became ${describe(first)} already`)
  }
  return {
    problems: [...problems('approval', approvals), ...problems('seqId', await verifyIdentity(kb, versions))],
    notes: firstOf(pushed, 5).map((line) => `pushed to main: ${line}`),
  }
}

function describe({ seqId, version, commit }: VersionRecord): string {
  return `${seqId} version ${version} (commit ${commit.slice(0, 12)})`
}

async function verifyIdentity(kb: KnowledgeBase, versions: readonly VersionRecord[]): Promise<string[]> {
  const documentsOf = new Map<string, Set<string>>()
  const seqIdsOf = new Map<string, Set<string>>()
  for (let start = 0; start < versions.length; start += chunkVersions) {
    const chunk = versions.slice(start, start + chunkVersions)
    const texts = await Promise.all(chunk.map(({ blob }) => kb.repository.readTextOnce(blob)))
    for (const [index, { seqId }] of chunk.entries()) {
      const id = parseNeuronFile(texts[index] ?? '').fields.id?.toLowerCase()
      if (id === undefined) continue
      documentsOf.set(seqId, (documentsOf.get(seqId) ?? new Set()).add(id))
      seqIdsOf.set(id, (seqIdsOf.get(id) ?? new Set()).add(seqId))
    }
  }
  const severalOf = (sets: ReadonlyMap<string, ReadonlySet<string>>, say: (name: string, others: string) => string) =>
    [...sets].filter(([, others]) => others.size > 1).map(([name, others]) => say(name, [...others].join(', ')))
  return [
    ...severalOf(documentsOf, (seqId, ids) => `${seqId} was given to several documents: ${ids}`),
    ...severalOf(seqIdsOf, (id, seqIds) => `the document ${id} has had several seqIds: ${seqIds}`),
  ]
}

/**
 * Returns the Neurons for which a search index has content that main never had, by a projection that is as new or newer. Missing or
 * outdated pages are no fault: the next search updates the index.
 */
export function verifySearch({ projection }: KnowledgeBase, { versions }: CheckedIndex): string[] {
  const known = new Set(everyVersion(projection.read).map(({ seqId, blob }) => `${seqId} ${blob}`))
  return [...versions]
    .filter(([key, version]) => !isUuid(key) && !known.has(`${key} ${blobOfVersion(version)}`))
    .map(([key]) => `The search index has a version of ${key} that never was: run "ganglion rebuild".`)
}
