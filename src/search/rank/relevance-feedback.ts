import { boundary } from '../index/page-terms.ts'
import { isNameTerm } from '../text/name-terms.ts'
import { TermTable } from '../text/term-table.ts'
import { idf, saturation } from './scores.ts'

/** A chunk that was found, with its terms as `pageTerms` writes them and their number. */
export type ExpansionTerm = { page: number; score: number; terms: string; length: number }

/** Statistics of the visible chunks, to weight terms. */
export type Figures = { chunkCount: number; averageLength: number; chunksWith: (term: string) => number }

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
  const counter = new TermCounter([...weights.keys()])
  const weightOf = Float64Array.from(weights.values())
  return candidates.map(({ score, terms, length }) => {
    for (const [from, to] of textsOnce(terms)) counter.add(terms, from, to)
    let likeness = 0
    for (const [index, frequency] of counter.take()) {
      likeness += (weightOf[index] ?? 0) * saturation(frequency, length, figures.averageLength)
    }
    return score / asked + parameters.weight * likeness
  })
}

/** Returns the weights of the terms that characterise the best candidates. */
function relevanceModel(
  candidates: readonly ExpansionTerm[],
  questionWeights: ReadonlyMap<string, number>,
  { chunkCount, chunksWith }: Figures,
  { pages, decay }: FeedbackParameters,
): Map<string, number> {
  const table = new TermTable()
  const likely: number[] = []
  const best = candidates[0]?.score ?? 0
  for (const { score, terms, length } of bestOfPages(candidates, pages)) {
    const each = Math.exp((score / best - 1) / decay) / length
    for (const [from, to] of textsOnce(terms)) {
      for (const index of table.addTerms(terms, from, to)) likely[index] = (likely[index] ?? 0) + each
    }
  }
  const chosen: { term: string; likelihood: number; rarity: number }[] = []
  for (const [term, likelihood] of mostLikely(table.terms, likely)) {
    if (isNameTerm(term)) continue
    const count = chunksWith(term)
    if (count > maxShare * chunkCount && !questionWeights.has(term)) continue
    chosen.push({ term, likelihood, rarity: idf(count, chunkCount) })
    if (chosen.length === maxTerms) break
  }
  const mass = chosen.reduce((sum, { likelihood }) => sum + likelihood, 0)
  return new Map(chosen.map(({ term, likelihood, rarity }) => [term, (likelihood / mass) * rarity]))
}

/** Yields terms by descending likelihood. Sorts lazily, because few of them are used. */
function* mostLikely(
  terms: readonly string[],
  likely: readonly number[],
): Generator<[term: string, likelihood: number]> {
  const all = terms.map((term, index): [string, number] => [term, likely[index] ?? 0])
  const values = Float64Array.from(likely).sort()
  const least = values[values.length - 4 * maxTerms] ?? 0
  for (const isAmongFirst of [true, false]) {
    const some = all.filter(([, value]) => value >= least === isAmongFirst)
    yield* some.sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1))
  }
}

/** Returns the best candidate of each of the best `count` pages. */
function bestOfPages(candidates: readonly ExpansionTerm[], count: number): ExpansionTerm[] {
  const best = new Map<number, ExpansionTerm>()
  for (const candidate of candidates) if (!best.has(candidate.page)) best.set(candidate.page, candidate)
  return [...best.values()].slice(0, count)
}

/** Returns the ranges of the texts in a chunk's terms. A repeated text, such as the title, counts once. */
function textsOnce(terms: string): [from: number, to: number][] {
  const texts: [from: number, to: number][] = []
  let before = ''
  for (let from = 0; from < terms.length; ) {
    const found = terms.indexOf(boundary, from)
    const to = found < 0 ? terms.length : found
    const text = terms.slice(from, to)
    if (text !== before) texts.push([from, to])
    before = text
    from = to + boundary.length
  }
  return texts
}

/** Counts occurrences of given terms in texts of space-separated terms. */
export class TermCounter {
  readonly #table: TermTable
  readonly #counts: Uint32Array
  #found: number[] = []

  constructor(terms: readonly string[]) {
    this.#table = new TermTable(terms)
    this.#counts = new Uint32Array(terms.length)
  }

  /** Counts in a range of a text, which starts and ends between terms. */
  add(text: string, from: number, to: number): void {
    for (const index of this.#table.findTerms(text, from, to)) {
      if (index < 0) continue
      const count = this.#counts[index] ?? 0
      if (count === 0) this.#found.push(index)
      this.#counts[index] = count + 1
    }
  }

  /** Yields the counts since the last call, by index of the term, and resets them. */
  *take(): Generator<[index: number, count: number]> {
    for (const index of this.#found) {
      const count = this.#counts[index] ?? 0
      this.#counts[index] = 0
      yield [index, count]
    }
    this.#found = []
  }
}
