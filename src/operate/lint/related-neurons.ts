import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { neuronsOfConnector } from '../../kb/projection/candidate-index.ts'
import { findNeuron, neuronsAfter } from '../../kb/projection/neuron-queries.ts'
import { lintConnector } from '../../rules/lint/lint-candidate.ts'
import { FeatureIndex } from '../../rules/lint/lint-features.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { questionTerms } from '../../search/query/question.ts'
import { analyserFor } from '../../search/text/analyser.ts'
import { pauses } from '../../system/pauses.ts'

const maxRelated = 3

/**
 * Finds the Neurons that share the rarest tags and words of the title with one. The tables tell, not the search index: that has
 * one owner, and lint may run beside the server.
 */
export async function relatedNeurons(kb: KnowledgeBase): Promise<(seqId: string) => string[]> {
  const analyser = analyserFor((await kb.settings()).language)
  const featuresOf = ({ title, tags }: { title: string; tags: readonly string[] }) => [
    ...questionTerms(title, analyser).map(({ term }) => `word ${term}`),
    ...tags.map((tag) => `tag ${tagKey(tag)}`),
  ]
  const index = await kb.projection.withSnapshot(async (sql) => {
    const pause = pauses()
    const features = new FeatureIndex()
    const own = neuronsOfConnector(sql, lintConnector)
    for (const neuron of neuronsAfter(sql, '', undefined)) {
      await pause()
      if (!own.has(neuron.seqId)) features.add(neuron.seqId, featuresOf(neuron))
    }
    return features
  })
  return (seqId) => {
    const neuron = findNeuron(kb.projection.read, seqId)
    if (neuron === undefined) return []
    const sharing = index.sharing(featuresOf(neuron), maxRelated + 1)
    return sharing.filter((other) => other !== seqId).slice(0, maxRelated)
  }
}
