import { boundary } from '../index/page-terms.ts'
import { idf, saturation } from './bm25.ts'

/** A chunk that was found: what it is found by, as `pageTerms` has it, and its length. */
export type Candidate = { page: number; score: number; terms: string; length: number }

/** What of the visible chunks it takes to weigh a term. */
export type Figures = { chunkCount: number; averageLength: number; chunksWith: (term: string) => number }

/** How many pages tell what an answer is about: the best chunk of each, */
const feedbackPages = 10
/** how many candidates it puts in order, */
const maxReordered = 300
/** the sooner forgotten the further its score is from the best, */
const decay = 0.075
/** and the shorter it is, as if it were longer by so many terms. */
const smoothing = 100
const maxTerms = 60
/** A term in more of the chunks than this tells nothing, unless it was asked for. */
const maxPart = 0.1
/** What the feedback counts beside the question; and what brings the two to one scale. */
const share = 0.3
const scale = 1.5

/**
 * New scores for the candidates of a question, which come best first: those that have in common with the best of them more than
 * the question's own words gain. Pseudo-relevance feedback after RM3 (Lavrenko and Croft, "Relevance-Based Language Models",
 * 2001; Abdul-Jaleel et al., "UMass at TREC 2004"), which here reorders and never adds.
 * @param questionWeights by term
 */
export function feedback(
  candidates: readonly Candidate[],
  questionWeights: ReadonlyMap<string, number>,
  figures: Figures,
): number[] {
  const weights = relevanceModel(candidates, questionWeights, figures)
  const asked = [...questionWeights.values()].reduce((sum, weight) => sum + weight, 0)
  return candidates.map(({ score, terms, length }, index) => {
    const own = ((1 - share) * score) / asked
    if (index >= maxReordered) return own
    const frequencies = new Map<string, number>()
    for (const term of termsOnce(terms)) if (weights.has(term)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
    let likeness = 0
    for (const [term, frequency] of frequencies) {
      likeness += (weights.get(term) ?? 0) * saturation(frequency, length, figures.averageLength)
    }
    return own + share * scale * likeness
  })
}

/** What the best candidates speak of: weights by term. */
function relevanceModel(
  candidates: readonly Candidate[],
  questionWeights: ReadonlyMap<string, number>,
  { chunkCount, chunksWith }: Figures,
): Map<string, number> {
  const likely = new Map<string, number>()
  const best = candidates[0]?.score ?? 0
  for (const { score, terms, length } of firstOfPages(candidates)) {
    const each = Math.exp((score / best - 1) / decay) / (length + smoothing)
    for (const term of termsOnce(terms)) likely.set(term, (likely.get(term) ?? 0) + each)
  }
  const chosen: { term: string; likelihood: number; rarity: number }[] = []
  for (const [term, likelihood] of [...likely].sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1))) {
    const count = chunksWith(term)
    if (count > maxPart * chunkCount && !questionWeights.has(term)) continue
    chosen.push({ term, likelihood, rarity: idf(count, chunkCount) })
    if (chosen.length === maxTerms) break
  }
  const mass = chosen.reduce((sum, { likelihood }) => sum + likelihood, 0)
  return new Map(chosen.map(({ term, likelihood, rarity }) => [term, (likelihood / mass) * rarity]))
}

function firstOfPages(candidates: readonly Candidate[]): Candidate[] {
  const first = new Map<number, Candidate>()
  for (const candidate of candidates) if (!first.has(candidate.page)) first.set(candidate.page, candidate)
  return [...first.values()].slice(0, feedbackPages)
}

/** The terms of a chunk, where a text that stands there several times, as its title, counts once. */
function termsOnce(terms: string): string[] {
  const texts = terms.trim().split(` ${boundary}`)
  return texts.flatMap((text, index) =>
    text === texts[index - 1] ? [] : text.split(' ').filter((term) => term !== ''),
  )
}
