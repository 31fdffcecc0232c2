import { expect, test } from 'vitest'
import { leaveOneOut, type Measured } from '../../bench/quality/leave-one-out.ts'
import { randomisationTest } from '../../bench/quality/randomisation-test.ts'

/** A collection in which each setting has these nDCGs, one a query. */
function measured(name: string, settings: Record<string, number[]>): Measured {
  return {
    name,
    settings: new Map(
      Object.entries(settings).map(([setting, values]) => [
        setting,
        values.map((ndcg10) => ({ ndcg10, recall100: 1 - ndcg10, timedOut: false })),
      ]),
    ),
  }
}

test('a collection has no say in the setting that it is ranked with', () => {
  const { folds, overall } = leaveOneOut(
    [
      measured('a', { none: [0.5, 0.5], mild: [0.6, 0.6], strong: [0.9, 0.9] }),
      measured('b', { none: [0.5], mild: [0.6], strong: [0.4] }),
      measured('c', { none: [0.5], mild: [0.6], strong: [0.4] }),
    ],
    'none',
  )
  expect(folds.map(({ name, setting }) => [name, setting])).toEqual([
    ['a', 'mild'],
    ['b', 'strong'],
    ['c', 'strong'],
  ])
  expect(overall.ndcg10.baseline).toBeCloseTo(0.5, 12)
  expect(overall.ndcg10.chosen).toBeCloseTo((0.6 + 0.4 + 0.4) / 3, 12)
  expect(overall.recall100.chosen).toBeCloseTo(1 - (0.6 + 0.4 + 0.4) / 3, 12)
})

test('collections count the same, however many queries they have, and the baseline can win', () => {
  const many = measured('many', { none: Array(50).fill(0.5), other: Array(50).fill(0.51) })
  const few = measured('few', { none: [0.9], other: [0.1] })
  expect(leaveOneOut([many, few], 'none')).toMatchObject({
    folds: [
      { name: 'many', setting: 'none', ndcg10: { baseline: 0.5, chosen: 0.5, p: 1 } },
      { name: 'few', setting: 'other' },
    ],
    overall: { setting: 'none' },
  })
})

test('a difference that all queries share is not chance, and one that half of them contradict is', () => {
  expect(randomisationTest([Array(20).fill(0.1)])).toBeLessThan(0.001)
  expect(randomisationTest([[0.1, -0.1, 0.1, -0.1], [0]])).toBeGreaterThan(0.9)
  expect(randomisationTest([[0.1, 0.1]])).toBeCloseTo(0.5, 1)
})
