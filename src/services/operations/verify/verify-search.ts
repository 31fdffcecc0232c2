import { isUuid } from '../../../knowledge/candidate-id.ts'
import type { CheckedIndex } from '../../../search/check-index.ts'
import { everyNeuronVersion } from '../../../store/projection/neuron-queries.ts'
import { everyVersion } from '../../../store/projection/version-queries.ts'
import type { Ganglion } from '../../ganglion.ts'
import type { KnowledgeBase } from '../../knowledge-base/knowledge-base.ts'
import { blobOfVersion, versionOf } from '../../search/neuron-document.ts'
import { searchedSources } from '../../search/source-shelf.ts'
import { type KbVerification, problems } from './verification.ts'

/**
 * Compares what a search index held with a projection that is as new or newer. An index follows later, so pages that it lacks, or has
 * as they were, are noted; what no page ever was is a problem.
 */
export async function verifySearch(
  ganglion: Ganglion,
  { identity, projection }: KnowledgeBase,
  { versions }: CheckedIndex,
  found: KbVerification,
): Promise<void> {
  const known = new Set(everyVersion(projection.read).map(({ seqId, blob }) => `${seqId} ${blob}`))
  const strange = [...versions].filter(
    ([key, version]) => !isUuid(key) && !known.has(`${key} ${blobOfVersion(version)}`),
  )
  const expected = new Map(await searchedSources(identity, ganglion).versions())
  for (const neuron of everyNeuronVersion(projection.read)) expected.set(neuron.seqId, versionOf(neuron))
  const late = [...expected].filter(([key, version]) => versions.get(key) !== version)
  const surplus = [...versions.keys()].filter((key) => !expected.has(key))
  found.problems.push(
    ...problems(
      'search',
      strange.map(([key]) => `The search index has a version of ${key} that never was: run "ganglion rebuild".`),
    ),
  )
  const behind = late.length + surplus.length - strange.length
  if (behind > 0)
    found.notes.push(
      `The search index is behind by ${behind} page${behind === 1 ? '' : 's'}: it catches up with the next search.`,
    )
}
