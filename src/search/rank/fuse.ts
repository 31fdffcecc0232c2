import type { ScoredChunk } from '../index/term-engine.ts'

/**
 * How near the visible chunks with a vector are to a question, in standard scores: by how many standard deviations a chunk is nearer
 * than the mean of all of them. What is not visible is not in the mean.
 */
export interface Nearness {
  /** Visible chunks with a vector. */
  readonly count: number
  /** The standard score of a visible chunk; undefined where it has no vector. */
  of(chunk: number): number | undefined
  /** The chunks that are nearest, best first, by their standard scores. */
  nearest(limit: number): ScoredChunk[]
}

/**
 * Witnesses are the chunks that the words rank best, and those that are nearest. They are a twentieth of all chunks, within these
 * bounds: of a few chunks no ten can be far nearer than the mean.
 */
const witnesses = { part: 1 / 20, min: 3, max: 10 }
/** Mean standard score of the words' witnesses: up to the first, the model counts nothing; from the second on, all that it may. */
const understanding = { from: 1.5, to: 4 }
/** What the words give the nearest chunks, as a part of what they give their own best. */
const agreement = { from: 0.3, to: 0.9 }
/** What the nearest chunk gains at most, where the best one by words has 1. */
const share = 0.5
/** By how many standard scores the nearest chunk must be nearer than chance would have it, to count without the words' word. */
const margin = 0.5
/** What such a chunk has at most, where the last one by words has 1. */
const behind = 0.5

/**
 * Merges what words and a model of embeddings find, best first: by a convex combination, without learning, of the words' scores and
 * standard scores of nearness (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", 2023). The model
 * counts as much as it agrees with the words: if it understands the question, the words' best chunks are near, and the nearest ones
 * hold words of the question; if it does not, both are as any other chunk. So a useless model leaves the words' order alone. Without
 * agreement, chunks that are nearer than chance would have it come behind what the words find.
 * @param words best first, with scores over 0
 * @returns undefined where the model tells nothing
 */
export function fuse(words: readonly ScoredChunk[], nearness: Nearness, limit: number): ScoredChunk[] | undefined {
  const nearest = nearness.nearest(limit)
  const top = nearest[0]?.score ?? 0
  if (top <= 0) return undefined
  const best = words[0]?.score ?? 1
  const byWords = new Map(words.map(({ chunk, score }) => [chunk, score / best]))
  const weight = weightOf({ byWords, nearest, nearness })
  if (weight === 0) return withBeyondChance(words, nearest, nearness.count)
  const fused = words.map(({ chunk, page, score }) => {
    const near = Math.max(0, nearness.of(chunk) ?? 0)
    return { chunk, page, score: score / best + (weight * near) / top }
  })
  for (const { chunk, page, score } of nearest) {
    if (!byWords.has(chunk) && score > 0) fused.push({ chunk, page, score: (weight * score) / top })
  }
  return fused.sort((a, b) => b.score - a.score) // stable: what is equal stays as it was
}

/** 0 to {@link share}. */
function weightOf({
  byWords,
  nearest,
  nearness,
}: {
  byWords: ReadonlyMap<number, number>
  nearest: readonly ScoredChunk[]
  nearness: Nearness
}): number {
  const count = Math.min(witnesses.max, Math.max(witnesses.min, Math.round(witnesses.part * nearness.count)))
  const heard = [...byWords.keys()].flatMap((chunk) => nearness.of(chunk) ?? []).slice(0, count)
  if (heard.length < witnesses.min) return 0
  const best = [...byWords.values()].slice(0, count)
  const held = nearest.slice(0, count).map(({ chunk }) => byWords.get(chunk) ?? 0)
  return share * between(mean(heard), understanding) * between(mean(held) / mean(best), agreement)
}

/**
 * The nearest chunks, best first, if the first of them is clearly nearer than the nearest of so many would be by chance; else none.
 * @param nearest by standard scores, best first. @param count of all chunks
 */
export function beyondChance(nearest: readonly ScoredChunk[], count: number): ScoredChunk[] {
  // The largest of so many normal variables, on average.
  const chance = Math.sqrt(2 * Math.log(Math.max(1, count)))
  const top = nearest[0]?.score ?? 0
  return top < chance + margin ? [] : nearest.filter(({ score }) => score >= chance)
}

/** The words' chunks, and behind them those that are near beyond chance. */
function withBeyondChance(
  words: readonly ScoredChunk[],
  nearest: readonly ScoredChunk[],
  count: number,
): ScoredChunk[] | undefined {
  const found = new Set(words.map(({ chunk }) => chunk))
  const added = beyondChance(nearest, count).filter(({ chunk }) => !found.has(chunk))
  if (added.length === 0) return undefined
  const top = nearest[0]?.score ?? 0
  const last = words.at(-1)?.score ?? 1
  return [...words, ...added.map((one) => ({ ...one, score: (behind * last * one.score) / top }))]
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

/** 0 up to `from`, 1 from `to` on, and in proportion between. */
function between(value: number, { from, to }: { from: number; to: number }): number {
  return Math.min(1, Math.max(0, (value - from) / (to - from)))
}
