import type { ScoredChunk } from '../index/term-engine.ts'

/**
 * Nearness of visible chunks to a question, in standard scores: standard deviations above the mean nearness of all visible chunks
 * with a vector. Invisible chunks do not affect the mean.
 */
export interface Nearness {
  /** Number of visible chunks with a vector. */
  readonly count: number
  /** Returns the standard score of a visible chunk; undefined if it has no vector. */
  of(chunk: number): number | undefined
  /** Returns the nearest chunks with their standard scores, best first. */
  nearest(limit: number): ScoredChunk[]
}

/**
 * Number of witnesses, the chunks that rank best by words or are nearest: a twentieth of all chunks, within these bounds. Among
 * few chunks, ten cannot be far above the mean.
 */
const witnesses = { part: 1 / 20, min: 3, max: 10 }
/** Mean standard score of the words' witnesses. Up to `from` the model has no weight, from `to` on its full weight. */
const understanding = { from: 1.5, to: 4 }
/** Word score of the nearest chunks, relative to that of the words' own best. */
const agreement = { from: 0.3, to: 0.9 }
/** Maximum score that nearness adds to a chunk, relative to that of the best chunk by words. */
const share = 0.5
/** Standard scores above chance that the nearest chunk needs to count without agreement. */
const margin = 0.5
/** Maximum score of such a chunk, relative to that of the last chunk by words. */
const behind = 0.5

/**
 * Merges the results of words and of an embeddings model, best first: a convex combination, without training, of word scores and
 * standard scores of nearness (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", 2023). The model
 * has as much weight as it agrees with the words: if it understands the question, the words' best chunks are near, and the
 * nearest chunks contain words of the question. So a useless model does not change the words' order. Without agreement, chunks
 * that are nearer than chance explains come last.
 * @param words best first, with scores over 0
 * @returns undefined if the model contributes nothing
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
  return fused.sort((a, b) => b.score - a.score) // stable: equal scores keep their order
}

/** Returns the weight of the model, 0 to {@link share}. */
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
 * Returns the nearest chunks, best first, if the first is clearly nearer than chance explains among so many chunks; otherwise
 * none.
 * @param nearest by standard scores, best first
 * @param count number of all chunks
 */
export function beyondChance(nearest: readonly ScoredChunk[], count: number): ScoredChunk[] {
  // Expected maximum of `count` normal variables.
  const chance = Math.sqrt(2 * Math.log(Math.max(1, count)))
  const top = nearest[0]?.score ?? 0
  return top < chance + margin ? [] : nearest.filter(({ score }) => score >= chance)
}

/** Appends the chunks that are nearer than chance explains to the words' chunks. */
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

/** Returns 0 up to `from`, 1 from `to` on, and interpolates between. */
function between(value: number, { from, to }: { from: number; to: number }): number {
  return Math.min(1, Math.max(0, (value - from) / (to - from)))
}
