import { newStemmer } from 'snowball-stemmers'
import { expect, test } from 'vitest'
import { stemEnglish } from '../../../src/search/text/english-stemmer.ts'
import { fc } from '../../support/properties.ts'

const endings = (
  's es us ss sses ed eed edly eedly ing ingly ied ies y e l ll at bl iz bb tt tional enci anci abli entli izer ization ational ' +
  'ation ator alism aliti alli fulness ousli ousness iveness iviti biliti bli logi ogi fulli lessli li icate ative alize iciti ' +
  'ical ful ness al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize sion tion ion'
).split(' ')
const letters = fc.string({ unit: fc.constantFrom(...'aeiouyaeiouybcdfghjklmnpqrstvwxz7'), maxLength: 6 })
const word = fc
  .tuple(
    fc.constantFrom('', '', 'gener', 'commun', 'arsen'),
    letters,
    fc.array(fc.constantFrom(...endings), { maxLength: 3 }),
  )
  .map(([beginning, middle, ends]) => beginning + middle + ends.join(''))

test('stems are those of Snowball', () => {
  const snowball = newStemmer('english')
  fc.assert(
    fc.property(word, (made) => {
      expect(stemEnglish(made)).toBe(snowball.stem(made))
    }),
    { numRuns: 5_000 },
  )
})

test('so are those of words with a stem of their own', () => {
  const snowball = newStemmer('english')
  const words = (
    'skis skies dying lying tying idly gently ugly early only singly sky news howe atlas cosmos bias andes inning outing canning ' +
    'herring earring proceed exceed succeed innings proceeds winning'
  ).split(' ')
  expect(words.map(stemEnglish)).toEqual(words.map((exception) => snowball.stem(exception)))
})
