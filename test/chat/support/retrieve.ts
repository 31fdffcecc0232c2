import { questionTerms } from '../../../src/search/query/query-words.ts'
import type { Passage } from '../../../src/search/search-index.ts'
import { analyserFor } from '../../../src/search/text/analyser.ts'
import { neurons } from '../questions.ts'
import { passage } from './passages.ts'

/** The pages of the handbook that share the most with a question, weighed by how rare each term is: a plain stand-in for search. */
export function retrieveFromHandbook(text: string, limit = 6): Passage[] {
  const analyser = analyserFor('en')
  const pages = neurons.map((neuron) => ({
    neuron,
    terms: new Set(analyser.tokens(`${neuron.title}\n${neuron.body}`).flatMap(({ term, also }) => [term, ...also])),
  }))
  const weighted = questionTerms(text, analyser).map(({ term, weight }) => {
    const count = pages.filter(({ terms }) => terms.has(term)).length
    return { term, weight: weight * Math.log(1 + (pages.length - count + 0.5) / (count + 0.5)) }
  })
  const all = weighted.reduce((sum, { weight }) => sum + weight, 0)
  const scored = pages.map(({ neuron, terms }) => {
    const held = weighted.filter(({ term }) => terms.has(term)).reduce((sum, { weight }) => sum + weight, 0)
    return { neuron, coverage: all === 0 ? 0 : held / all }
  })
  const best = scored
    .filter(({ coverage }) => coverage > 0)
    .toSorted((a, b) => b.coverage - a.coverage)
    .slice(0, limit)
  return best.map(({ neuron: { seqId, title, body }, coverage }) => {
    return passage({ seqId, title, content: body, rank: coverage / (best[0]?.coverage ?? 1) })
  })
}
