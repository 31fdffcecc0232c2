import type { Nearness } from '../vectors/nearness.ts'
import type { ScoredChunk } from './scorer.ts'

/**
 * Witnesses are the chunks that the words rank best: their nearness tells whether the model understands the question. They are a
 * twentieth of the chunks, within these bounds: of a few chunks no ten can be far nearer than the mean.
 */
const witnesses = { part: 1 / 20, min: 3, max: 10 }
/** Mean standard score of the witnesses: up to the first the model counts nothing, from the second on all it may. */
const trust = { from: 1.5, to: 4 }
/** What the nearest chunk gains, where the best one by words has 1. */
const share = 0.8
/** By how much the nearest chunk must be nearer than chance would have it, where no word tells. */
const margin = 0.5

/**
 * Puts together what words and a model of embeddings find, best first. A convex combination, without learning, of the words' scores
 * and standard scores of nearness (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", 2023), in which the
 * model counts as much as it agrees with the words: the chunks that the words rank best are near the question if the model
 * understands it, and as near as any other if it does not. So a model that is of no use leaves the order as the words have it.
 * @param words best first, with scores over 0
 * @returns undefined where the model tells nothing
 */
export function fuse<Scored extends ScoredChunk>(
  words: readonly Scored[],
  nearness: Nearness,
  limit: number,
): ScoredChunk[] | undefined {
  const nearest = nearness.nearest(limit)
  const top = nearest[0]?.score ?? 0
  if (top <= 0) return undefined
  const heard = words.flatMap(({ chunk }) => nearness.of(chunk) ?? []).slice(0, witnessCount(nearness))
  if (heard.length < witnesses.min) {
    return words.length === 0 && top >= chanceOf(nearness.count) + margin ? beyondChance(nearest, nearness) : undefined
  }
  const mean = heard.reduce((sum, score) => sum + score, 0) / heard.length
  const weight = share * Math.min(1, Math.max(0, (mean - trust.from) / (trust.to - trust.from)))
  if (weight === 0) return undefined
  const best = words[0]?.score ?? 1
  const fused = new Map<number, ScoredChunk>()
  for (const { chunk, page, score } of words) {
    const near = Math.max(0, nearness.of(chunk) ?? 0)
    fused.set(chunk, { chunk, page, score: score / best + (weight * near) / top })
  }
  for (const { chunk, page, score } of nearest) {
    if (!fused.has(chunk) && score > 0) fused.set(chunk, { chunk, page, score: (weight * score) / top })
  }
  return [...fused.values()].sort((a, b) => b.score - a.score)
}

function witnessCount({ count }: Nearness): number {
  return Math.min(witnesses.max, Math.max(witnesses.min, Math.round(witnesses.part * count)))
}

/** The standard score that the nearest of so many chunks has on average if they lie in no order: as of normal variables. */
function chanceOf(count: number): number {
  return Math.sqrt(2 * Math.log(Math.max(1, count)))
}

function beyondChance(nearest: readonly ScoredChunk[], { count }: Nearness): ScoredChunk[] {
  return nearest.filter(({ score }) => score >= chanceOf(count))
}
