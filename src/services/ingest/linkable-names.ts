import { neuronsBelow } from '../../store/candidate-index.ts'
import { titlesAndAliases } from '../../store/link-queries.ts'
import { neuronsAfter } from '../../store/neuron-queries.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { ingestConnector, originPrefix } from './source-candidate.ts'

/** A name by which a text may mention a Neuron, and the Neuron's title. */
export type LinkableName = { name: string; title: string }

/** The names of a knowledge base's Neurons, but of those that the Source itself has become: to compile it again gives the same. */
export function linkableNames(kb: KnowledgeBase, documentId: string): LinkableName[] {
  const { read: sql } = kb.projection
  const own = neuronsBelow(sql, ingestConnector, originPrefix(documentId))
  return titlesAndAliases(sql)
    .filter(({ seqId }) => !own.has(seqId))
    .map(({ name, title }) => ({ name, title }))
}

/** Titles that a language model, which others may run, is told of: of those Neurons, but for the internal ones. */
export function titlesForModel(kb: KnowledgeBase, documentId: string): string[] {
  const { read: sql } = kb.projection
  const hidden = neuronsBelow(sql, ingestConnector, originPrefix(documentId))
  const internal = new Set(Array.from(neuronsAfter(sql, '', 'internal'), ({ seqId }) => seqId))
  const shown = titlesAndAliases(sql).filter(({ seqId }) => !hidden.has(seqId) && !internal.has(seqId))
  return [...new Set(shown.map(({ title }) => title))]
}
