import { expect, test } from 'vitest'
import { ndcg, recall } from '../../bench/quality/metrics.ts'

const grades = new Map([
  ['a', 3],
  ['b', 1],
  ['c', 0],
])

test('the ideal order has an nDCG of 1', () => {
  expect(ndcg(['a', 'b', 'c'], grades, 10)).toBe(1)
})

test('gains are grades, divided by log2(rank + 1)', () => {
  const found = 1 / Math.log2(3) + 3 / Math.log2(4)
  const best = 3 + 1 / Math.log2(3)
  expect(ndcg(['x', 'b', 'a'], grades, 10)).toBeCloseTo(found / best, 12)
})

test('what stands below the depth counts neither as found nor as ideal', () => {
  expect(ndcg(['x', 'a'], grades, 1)).toBe(0)
  expect(ndcg(['a', 'x'], grades, 1)).toBe(1)
})

test('recall counts relevant documents of any grade, within the depth', () => {
  expect(recall(['c', 'b', 'a'], grades, 2)).toBe(0.5)
  expect(recall(['c', 'b', 'a'], grades, 3)).toBe(1)
})

test('a query without relevant documents has 0', () => {
  const none = new Map([['c', 0]])
  expect([ndcg(['c'], none, 10), recall(['c'], none, 10)]).toEqual([0, 0])
})
