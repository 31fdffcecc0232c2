import type { TermCounts } from '../index/term-counts.ts'
import { isNameTerm } from '../text/name-terms.ts'
import { idf, saturation } from './scores.ts'

/** A chunk that was found, with the counts of its terms and their number. */
export type ExpansionTerm = { page: number; score: number; held: TermCounts; length: number }

/** Statistics of the visible chunks, to weight terms. `vocabulary`: the terms that are counted. */
export type Figures = {
  chunkCount: number
  averageLength: number
  chunksWith: (term: string) => number
  vocabulary: readonly string[]
}

export type FeedbackParameters = {
  /** Number of pages, each with its best chunk, from which the model is built. */
  pages: number
  /** Share of the best score: a chunk whose score is lower by this share counts 1/e as much. */
  decay: number
  /** Weight of similarity to the model, compared with the score for the question. 0 disables feedback. */
  weight: number
}

/** Default parameters, chosen by leave-one-collection-out cross-validation (see docs/benchmarks.md). */
export const feedbackParameters: FeedbackParameters = { pages: 20, decay: 0.2, weight: 0.9 }

/** Maximum terms of the model. */
const maxTerms = 60
/** Maximum share of chunks with a term of the model, unless the question has the term. */
const maxShare = 0.1

/**
 * Returns new scores for candidates, sorted by score: a candidate gains by sharing terms with the best ones beyond the question's
 * own. Pseudo-relevance feedback after RM3 (Lavrenko and Croft, "Relevance-Based Language Models", 2001; Abdul-Jaleel et al.,
 * "UMass at TREC 2004"), which here only reorders candidates.
 * @param questionWeights by term
 */
export function feedback(
  candidates: readonly ExpansionTerm[],
  questionWeights: ReadonlyMap<string, number>,
  figures: Figures,
  parameters: FeedbackParameters,
): number[] {
  const asked = [...questionWeights.values()].reduce((sum, weight) => sum + weight, 0)
  const weights = relevanceModel(candidates, questionWeights, figures, parameters)
  return candidates.map(({ score, held: { terms, counts }, length }) => {
    let likeness = 0
    for (let at = 0; at < terms.length; at++) {
      const weight = weights.get(terms[at] ?? 0)
      if (weight !== undefined) likeness += weight * saturation(counts[at] ?? 0, length, figures.averageLength)
    }
    return score / asked + parameters.weight * likeness
  })
}

/** Returns the weights of the terms that characterise the best candidates, by index in the vocabulary. */
function relevanceModel(
  candidates: readonly ExpansionTerm[],
  questionWeights: ReadonlyMap<string, number>,
  { chunkCount, chunksWith, vocabulary }: Figures,
  { pages, decay }: FeedbackParameters,
): Map<number, number> {
  const likely = new Map<number, number>()
  const best = candidates[0]?.score ?? 0
  for (const { score, held, length } of bestOfPages(candidates, pages)) {
    const each = Math.exp((score / best - 1) / decay) / length
    for (const [at, term] of held.terms.entries()) {
      let likelihood = likely.get(term) ?? 0
      for (let count = held.counts[at] ?? 0; count > 0; count--) likelihood += each
      likely.set(term, likelihood)
    }
  }
  const chosen: { index: number; likelihood: number; rarity: number }[] = []
  for (const [index, likelihood] of mostLikely(likely, vocabulary)) {
    const term = vocabulary[index] ?? ''
    if (isNameTerm(term)) continue
    const count = chunksWith(term)
    if (count > maxShare * chunkCount && !questionWeights.has(term)) continue
    chosen.push({ index, likelihood, rarity: idf(count, chunkCount) })
    if (chosen.length === maxTerms) break
  }
  const mass = chosen.reduce((sum, { likelihood }) => sum + likelihood, 0)
  return new Map(chosen.map(({ index, likelihood, rarity }) => [index, (likelihood / mass) * rarity]))
}

/** Yields terms by descending likelihood. Sorts lazily, because few of them are used. */
function* mostLikely(
  likely: ReadonlyMap<number, number>,
  vocabulary: readonly string[],
): Generator<[index: number, likelihood: number]> {
  const values = Float64Array.from(likely.values()).sort()
  const least = values[values.length - 4 * maxTerms] ?? 0
  const isBefore = (a: number, b: number) => (vocabulary[a] ?? '') < (vocabulary[b] ?? '')
  for (const isAmongFirst of [true, false]) {
    const some = [...likely].filter(([, value]) => value >= least === isAmongFirst)
    yield* some.sort(([a, ofA], [b, ofB]) => ofB - ofA || (isBefore(a, b) ? -1 : 1))
  }
}

/** Returns the best candidate of each of the best `count` pages. */
function bestOfPages(candidates: readonly ExpansionTerm[], count: number): ExpansionTerm[] {
  const best = new Map<number, ExpansionTerm>()
  for (const candidate of candidates) if (!best.has(candidate.page)) best.set(candidate.page, candidate)
  return [...best.values()].slice(0, count)
}
