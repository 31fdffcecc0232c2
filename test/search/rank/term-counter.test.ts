import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TermCounter } from '../../../src/search/rank/term-counter.ts'

const term = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '中', '𝒳'), minLength: 1, maxLength: 3 })

test('counts what splitting the text at its spaces counts', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(term, { maxLength: 200 }),
      fc.array(fc.array(term), { maxLength: 4 }),
      (terms, texts) => {
        const counter = new TermCounter(terms)
        for (const words of texts) {
          const text = words.map((word) => ` ${word}`).join('')
          counter.add(text, 0, text.length)
          const counts = words.filter((word) => terms.includes(word)).map((word) => terms.indexOf(word))
          const expected = [...new Set(counts)].map((index) => [
            index,
            counts.filter((other) => other === index).length,
          ])
          expect([...counter.take()]).toEqual(expected)
        }
      },
    ),
  )
})

test('terms with the same hash are told apart', () => {
  const counter = new TermCounter(['Aa', 'BB'])
  counter.add(' BB Aa BB C# ', 0, 13)
  expect([...counter.take()]).toEqual([
    [1, 2],
    [0, 1],
  ])
})

test('only the given part of a text counts', () => {
  const counter = new TermCounter(['wing'])
  counter.add(' wing ¶ wing ', 0, 7)
  expect([...counter.take()]).toEqual([[0, 1]])
})
