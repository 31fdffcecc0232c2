import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { neuronsBelow } from '../../kb/projection/candidate-index.ts'
import { titlesAndAliases } from '../../kb/projection/link-queries.ts'
import { neuronsAfter } from '../../kb/projection/neuron-queries.ts'
import { type Access, isSeenByMore } from '../../rules/access/audience.ts'
import { ingestConnector, originPrefix } from './source-candidate.ts'

/** A name that a text may use for a Neuron, and the Neuron's title. */
export type LinkableName = { name: string; title: string }

/**
 * The names by which a Source's pages may link to Neurons. Only Neurons that everybody sees who sees the pages: a link that is
 * made because a name exists tells its readers of the name. Without those that the Source itself has become, so that to
 * compile it again gives the same.
 * @param pages who sees the pages
 */
export async function linkableNames(kb: KnowledgeBase, documentId: string, pages: Access): Promise<LinkableName[]> {
  const { read: sql } = kb.projection
  const { defaultAudience } = await kb.settings()
  const excluded = neuronsBelow(sql, ingestConnector, originPrefix(documentId))
  for (const neuron of neuronsAfter(sql, '', undefined)) {
    if (isSeenByMore(pages, neuron, defaultAudience)) excluded.add(neuron.seqId)
  }
  return titlesAndAliases(sql)
    .filter(({ seqId }) => !excluded.has(seqId))
    .map(({ name, title }) => ({ name, title }))
}
