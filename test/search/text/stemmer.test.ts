import { newStemmer } from 'snowball-stemmers'
import { expect, test } from 'vitest'
import { stemmerFor } from '../../../src/search/text/stemmer.ts'
import { fc, runs } from '../../support/properties.ts'

const endings =
  `ization ational fulness ousness iveness tional biliti lessli entli ation alism aliti ousli iviti fulli enci anci
  abli izer ator alli bli ogi li alize icate iciti ative ical ness ful ement ance ence able ible ment ant ent ism ate iti ous ive
  ize ion al er ic e l ll eed ingly edly ly sses ied ies us ss y 's s'`.split(/\s+/)

test('words that English keeps are those that Porter2 keeps', () => {
  const [stem, porter2] = [stemmerFor('en'), newStemmer('english')]
  const letters = fc.string({ unit: fc.constantFrom(...`abcdefghijklmnopqrstuvwxyzé'`), maxLength: 9 })
  fc.assert(
    fc.property(letters, fc.constantFrom('', ...endings), fc.nat(2), (beginning, ending, lost) => {
      const word = (beginning + ending).slice(0, beginning.length + ending.length - lost)
      expect(stem(word)).toBe(porter2.stem(word))
    }),
    { numRuns: runs(5000) },
  )
})
