import { expect, test } from 'vitest'
import { TermCounter } from '../../../src/search/rank/relevance-feedback.ts'
import { TermTable, termHash } from '../../../src/search/text/term-table.ts'
import { fc } from '../../support/properties.ts'

const term = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '中', '𝒳'), minLength: 1, maxLength: 3 })
const textOf = (words: readonly string[]) => words.map((word) => ` ${word}`).join('')

test('a table gives each different term of a text an index, in their order', () => {
  fc.assert(
    fc.property(fc.array(term, { maxLength: 300 }), (words) => {
      const table = new TermTable()
      const text = `${textOf(words)} `
      const indexes = [...table.addTerms(text)]
      const different = [...new Set(words)]
      expect(table.terms).toEqual(different)
      expect(indexes).toEqual(words.map((word) => different.indexOf(word)))
      expect(table.find('c', 0, 1, termHash('c'))).toBe(-1)
    }),
  )
})

test('terms with the same hash are told apart', () => {
  const table = new TermTable()
  expect(['one', 'other', 'one'].map((text) => table.add(text, 0, text.length, 7))).toEqual([0, 1, 0])
})

test('a counter counts what splitting the text at its spaces counts', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(term, { maxLength: 200 }),
      fc.array(fc.array(term), { maxLength: 4 }),
      (terms, texts) => {
        const counter = new TermCounter(terms)
        for (const words of texts) {
          const text = textOf(words)
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

test('only the given part of a text counts', () => {
  const counter = new TermCounter(['wing'])
  counter.add(' wing ¶ wing ', 0, 7)
  expect([...counter.take()]).toEqual([[0, 1]])
})
