import { describe, expect, test } from 'vitest'
import type { ScoredChunk } from '../../../src/search/index/term-engine.ts'
import type { Nearness } from '../../../src/search/rank/fuse.ts'
import { fuse } from '../../../src/search/rank/fuse.ts'

const chunk = (id: number, score: number): ScoredChunk => ({ chunk: id, page: id, score })
const chunksOf = (scored: readonly ScoredChunk[] | undefined) => scored?.map(({ chunk: id }) => id)

/** Standard scores by chunk, among 100 chunks. */
function nearnessOf(scores: Readonly<Record<number, number>>, count = 100): Nearness {
  const sorted = Object.entries(scores)
    .map(([id, score]) => chunk(Number(id), score))
    .sort((a, b) => b.score - a.score)
  const known = new Map(sorted.map(({ chunk: id, score }) => [id, score]))
  const nearness: Pick<Nearness, 'count' | 'of' | 'nearest'> = {
    count,
    of: (id) => known.get(id),
    nearest: (limit) => sorted.slice(0, limit),
  }
  return nearness as Nearness
}

const words = [1, 2, 3, 4, 5, 6].map((id) => chunk(id, 12 - id))

describe('fusion', () => {
  test('a model that agrees moves up what is near, and adds what no word finds', () => {
    const fused = fuse(words, nearnessOf({ 1: 4, 2: 4, 3: 8, 4: 4, 5: 4, 6: 4, 70: 7.9 }), 10)
    expect(chunksOf(fused)).toEqual([3, 1, 2, 4, 5, 6, 70])
    expect(fused?.at(-1)?.score).toBeGreaterThan(0)
  })

  test.each<[string, Record<number, number>]>([
    ['finds the best by words as near as any other', { 1: 0.1, 2: -0.3, 3: 0.2, 4: 0, 5: 0.5, 6: -1, 70: 3, 71: 2.9 }],
    ['finds them farther', { 1: -2, 2: -2, 3: -2, 4: -2, 5: -2, 6: -2, 70: 3 }],
    [
      'finds nearest what holds no word',
      { 1: 3, 2: 3, 3: 3, 4: 3, 5: 3, 6: 3, 70: 3.2, 71: 3.2, 72: 3.2, 73: 3.2, 74: 3.2 },
    ],
    ['knows too few of them', { 1: 3, 2: 3, 70: 3 }],
    ['tells nothing', { 1: 0, 2: 0, 3: 0 }],
  ])('a model that %s counts nothing', (_, scores) => {
    expect(fuse(words, nearnessOf(scores), 10)).toBeUndefined()
  })

  test('what is nearer than chance has it comes behind the words that the model does not agree with', () => {
    const fused = fuse(words, nearnessOf({ 1: 0, 2: 0, 3: 0, 70: 6, 71: 3.1, 72: 2.9 }), 10)
    expect(chunksOf(fused)).toEqual([1, 2, 3, 4, 5, 6, 70, 71])
    const scores = fused?.map(({ score }) => score) ?? []
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
  })

  test('without words, the nearest are the answer if they are nearer than chance has it', () => {
    // Of 100 normal variables the largest is 3.03 on average.
    expect(chunksOf(fuse([], nearnessOf({ 70: 6, 71: 3.1, 72: 2.9 }), 10))).toEqual([70, 71])
    expect(fuse([], nearnessOf({ 70: 3.4, 71: 3.1 }), 10)).toBeUndefined()
    expect(fuse([], nearnessOf({ 70: 6 }, 1_000_000_000), 10)).toBeUndefined()
  })

  test('never falls below its words by more than a half of the best score', () => {
    const fused = fuse(words, nearnessOf({ 1: 4, 2: 4, 3: 4, 4: 4, 5: 4, 6: 100 }), 10) ?? []
    for (const { score } of fused) expect(score).toBeLessThanOrEqual(1.5)
    expect(Math.max(...fused.map(({ score }) => score))).toBeLessThanOrEqual(1.5)
  })
})
