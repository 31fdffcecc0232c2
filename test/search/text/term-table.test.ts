import { expect, test } from 'vitest'
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
