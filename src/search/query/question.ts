import type { Analyser } from '../text/analyser.ts'
import { foldWord } from '../text/fold-word.ts'

export type QuestionTerm = { term: string; weight: number }

const maxTerms = 64

/** Weight of an alternative term of a word. */
const alsoWeight = 0.5

/**
 * Returns the terms of a question without stop words, at most 64: by weight, then by position. The weight is the number of
 * occurrences, half for alternative terms.
 */
export function questionTerms(text: string, analyser: Analyser): QuestionTerm[] {
  const weights = new Map<string, number>()
  const idle = new Set<string>()
  const add = (term: string, weight: number) => weights.set(term, (weights.get(term) ?? 0) + weight)
  let lastEnd = 0
  for (const { start, end, term, also } of analyser.tokens(text)) {
    // The pair before has this character already.
    if (end === lastEnd) continue
    lastEnd = end
    const word = text.slice(start, end)
    const isStopWord = analyser.isStopWord(foldWord(word))
    if (analyser.isIdle(foldWord(word) || word)) idle.add(term)
    if (!isStopWord) add(term, 1)
    // A stop word can begin a longer word: `oncall` of `on-call`.
    for (const other of also) if (!isStopWord || other.length > end - start) add(other, alsoWeight)
  }
  const said = [...weights].filter(([term]) => !idle.has(term))
  return (said.length > 0 ? said : [...weights])
    .map(([term, weight]) => ({ term, weight }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, maxTerms)
}
