import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { everyVersion } from '../../kb/projection/version-queries.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import type { CheckedIndex } from '../../search/check-index.ts'
import { blobOfVersion } from '../../search/kb/neuron-document.ts'

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
