import type { Analyser } from '../text/analyser.ts'
import { foldWord } from '../text/fold-word.ts'

export type QuestionTerm = { term: string; weight: number }

const maxTerms = 64

/** What a term counts that a word is found by beside its own. */
const alsoWeight = 0.5

/**
 * What a question in natural language asks for: its terms without stop words, at most 64, those that weigh most and then those
 * that come first. The weight is the number of times it occurs; half, where a word is only found by it, too.
 */
export function questionTerms(text: string, analyser: Analyser): QuestionTerm[] {
  const weights = new Map<string, number>()
  const idle = new Set<string>()
  const add = (term: string, weight: number) => weights.set(term, (weights.get(term) ?? 0) + weight)
  let lastEnd = 0
  for (const { start, end, term, also } of analyser.tokens(text)) {
    // The last character of a run, which the pair before it has already.
    if (end === lastEnd) continue
    lastEnd = end
    const word = text.slice(start, end)
    const isStopWord = analyser.isStopWord(foldWord(word))
    if (analyser.isIdle(foldWord(word) || word)) idle.add(term)
    if (!isStopWord) add(term, 1)
    // A stop word can begin what is none: the `oncall` of `on-call` is longer.
    for (const other of also) if (!isStopWord || other.length > end - start) add(other, alsoWeight)
  }
  const said = [...weights].filter(([term]) => !idle.has(term))
  return (said.length > 0 ? said : [...weights])
    .map(([term, weight]) => ({ term, weight }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, maxTerms)
}
