import { expect, test } from 'vitest'
import { sentencesOf } from '../../../src/rules/text/sentences.ts'
import { fc, runs } from '../../support/properties.ts'
import { hostileText } from '../hostile-text.ts'

function texts(text: string, language = 'en'): string[] {
  return sentencesOf(text, language).map((sentence) => sentence.text)
}

test('sentences end where Unicode says', () => {
  expect(texts('It works. Does it? Yes! It cost 3.5 dollars.')).toEqual([
    'It works.',
    'Does it?',
    'Yes!',
    'It cost 3.5 dollars.',
  ])
  expect(texts('中文句子。第二句？', 'zh')).toEqual(['中文句子。', '第二句？'])
})

test('the end of a line ends a sentence', () => {
  expect(texts('A heading\nThen a sentence\r\n\r\n  over lines')).toEqual([
    'A heading',
    'Then a sentence',
    'over lines',
  ])
})

test('an abbreviation before a name or a number ends none', () => {
  expect(texts('Dr. Smith met Mr. Jones, e.g. on Jan. 5. See Fig. 2. Is it? No. It is.')).toEqual([
    'Dr. Smith met Mr. Jones, e.g. on Jan. 5.',
    'See Fig. 2.',
    'Is it?',
    'No.',
    'It is.',
  ])
})

test("an item's number belongs to the item", () => {
  expect(texts('1. Install it.\n2. Run it.')).toEqual(['1. Install it.', '2. Run it.'])
})

test('every sentence stands where it says, and nothing but space is left out', () => {
  fc.assert(
    fc.property(fc.oneof(hostileText, fc.string({ unit: 'grapheme' })), (text) => {
      let rest = ''
      let last = 0
      for (const { start, end, text: sentence } of sentencesOf(text, 'en')) {
        expect(text.slice(start, end)).toBe(sentence)
        expect(start).toBeGreaterThanOrEqual(last)
        rest += text.slice(last, start)
        last = end
      }
      expect((rest + text.slice(last)).trim()).toBe('')
    }),
    { numRuns: runs(1000) },
  )
})
