import { expect, test } from 'vitest'
import { countTerms } from '../../../src/search/index/term-counts.ts'
import { TermTable } from '../../../src/search/text/term-table.ts'
import { fc } from '../../support/properties.ts'

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '中', '𝒳'), minLength: 1, maxLength: 3 })
const texts = fc.array(fc.array(word, { minLength: 1, maxLength: 20 }), { maxLength: 6 })
const joined = (some: readonly (readonly string[])[]) => some.map((words) => `${words.join(' ')} ¶ `).join('')

test('terms count as splitting the texts at their spaces counts them, and a text that repeats the one before not at all', () => {
  const table = new TermTable()
  fc.assert(
    fc.property(texts, texts, (ofPage, ofOwn) => {
      const { terms, counts, own } = countTerms(` ${joined(ofPage)}${joined(ofOwn)}`, joined(ofPage).length, table)
      const all = [...ofPage, ...ofOwn]
      const once = all.filter((words, at) => words.join(' ') !== all[at - 1]?.join(' ')).flat()
      const different = [...new Set(once)]
      expect(Array.from(terms, (term) => table.terms[term])).toEqual(different)
      expect([...counts]).toEqual(different.map((term) => once.filter((other) => other === term).length))
      expect([...own]).toEqual(different.map((term) => Number(ofOwn.flat().includes(term))))
    }),
  )
})
