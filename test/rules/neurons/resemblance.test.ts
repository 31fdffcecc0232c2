import { expect, test } from 'vitest'
import { findResembling } from '../../../src/rules/neurons/resemblance.ts'
import { fc } from '../../support/properties.ts'

const words = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `w${from + at}`).join(' ')

test('texts that share most runs of five words resemble, whatever their case, marks and punctuation', () => {
  const text = words(0, 20)
  const others = [
    { name: 'same', text: text.toUpperCase().replaceAll(' ', ', ') },
    { name: 'half', text: words(0, 12) },
    { name: 'other', text: words(100, 120) },
    { name: 'self', text },
  ]
  expect(findResembling([{ name: 'self', text }], others, 0.5)).toEqual([
    [
      { name: 'same', resemblance: 1 },
      { name: 'half', resemblance: 0.5 },
    ],
  ])
})

test('a text of fewer than five words resembles none', () => {
  expect(
    findResembling([{ name: 'a', text: 'one two three four' }], [{ name: 'b', text: 'one two three four' }], 0),
  ).toEqual([[]])
})

test('the resemblance is the Jaccard coefficient of the sets of shingles', () => {
  const someWords = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 5, maxLength: 30 })
  const shingles = (list: string[]) => new Set(list.slice(4).map((_, start) => list.slice(start, start + 5).join(' ')))
  fc.assert(
    fc.property(someWords, someWords, (left, right) => {
      const [a, b] = [shingles(left), shingles(right)]
      const expected = a.intersection(b).size / a.union(b).size
      const [found] = findResembling([{ name: 'a', text: left.join(' ') }], [{ name: 'b', text: right.join(' ') }], 0)
      expect(found?.[0]?.resemblance ?? 0).toBeCloseTo(expected, 10)
    }),
  )
})
