import { expect, test } from 'vitest'
import { matchValue, valueAt } from '../src/match-value.ts'

const value = { id: 'x_00000042', n: 2, list: [{ rank: 1 }, { rank: 0.5 }], none: null, at: '2026-01-08T09:12:44Z' }

test.each([
  [{ id: 'x_00000042', n: 2 }],
  [{ id: '$seqId', n: '$int', none: '$string|null', at: '$time', gone: '$absent' }],
  [{ 'gone?': '$string', 'n?': '$number' }],
  [{ list: [{ rank: 1 }, '$object'] }],
  [{ list: { $length: { $min: 2, $max: 2 }, $each: { rank: '$number' }, $some: { rank: 1 }, $descending: 'rank' } }],
  [{ id: { $is: '$string', $match: '^x_', $contains: '42', $not: 'y', $in: ['a', '$seqId'] } }],
])('a value matches %j', (matcher) => {
  expect(matchValue(value, matcher, 'answer')).toEqual([])
})

test.each([
  [{ n: '2' }, 'answer.n: expected "2", got 2'],
  [{ gone: null }, 'answer.gone: expected null, got nothing'],
  [{ none: '$any', gone: '$any' }, 'answer.gone: expected any, got nothing'],
  [{ 'n?': '$string' }, 'answer.n: expected string, got 2'],
  [{ list: [{ rank: 1 }] }, 'answer.list: expected 1 items, got [{"rank":1},{"rank":0.5}]'],
  [{ list: { $each: { rank: { $max: 0.7 } } } }, 'answer.list[0].rank: expected at most 0.7, got 1'],
  [{ list: { $some: { rank: 3 } } }, 'answer.list: expected an item like {"rank":3}, got [{"rank":1},{"rank":0.5}]'],
  [{ list: { $length: 3 } }, 'answer.list.length: expected 3, got 2'],
  [{ id: { $not: '$string' } }, 'answer.id: expected other than "$string", got "x_00000042"'],
  [{ n: { $match: '2' } }, 'answer.n: expected to match 2, got 2'],
  [{ id: { length: 3 } }, 'answer.id: expected an object, got "x_00000042"'],
])('a value that does not match %j is described', (matcher, fault) => {
  expect(matchValue(value, matcher, 'answer')).toEqual([fault])
})

test('a matcher with a slip is refused', () => {
  expect(() => matchValue(1, '$integer', '')).toThrow('There is no kind of value $integer.')
  expect(() => matchValue(1, { $least: 1 }, '')).toThrow('There is no matcher $least.')
})

test('a list is no object, and bounds hold for numbers alone', () => {
  expect(matchValue([1], { $each: '$int' }, '')).toEqual([])
  expect(matchValue('x', { $each: '$int' }, 'a')).not.toEqual([])
  expect(matchValue(null, { $min: 0 }, 'a')).not.toEqual([])
  expect(matchValue('5', { $max: 9 }, 'a')).not.toEqual([])
})

test('paths read parts of a value, and measure them', () => {
  const answer = { a: [{ t: 'ab' }, { t: 'c' }], s: 'four' }
  expect(
    ['a.0.t', 'a.-1.t', 'a.*.t', 'a | count', 'a.*.t | chars', 's | chars', 'x.y'].map((path) => valueAt(answer, path)),
  ).toEqual(['ab', 'c', ['ab', 'c'], 2, 3, 4, undefined])
})
