import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { everyVersion } from '../../kb/projection/version-queries.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import type { CheckedIndex } from '../../search/check-index.ts'
import { blobOfVersion } from '../../search/kb/neuron-document.ts'

/**
 * Returns the Neurons of which a search index holds what main never had, by a projection that is as new or newer. Pages that it lacks, or
 * has as they were, are no fault: an index follows with the next search.
 */
export function verifySearch({ projection }: KnowledgeBase, { versions }: CheckedIndex): string[] {
  const known = new Set(everyVersion(projection.read).map(({ seqId, blob }) => `${seqId} ${blob}`))
  return [...versions]
    .filter(([key, version]) => !isUuid(key) && !known.has(`${key} ${blobOfVersion(version)}`))
    .map(([key]) => `The search index has a version of ${key} that never was: run "ganglion rebuild".`)
}
