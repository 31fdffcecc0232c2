import { expect, test } from 'vitest'
import { divideText, partAt } from '../../src/sources/read-source-text.ts'
import { anyCharacter, fc } from '../support/properties.ts'

const pages = {
  markdown: 'one\n\ntwo\n\nthree\n',
  anchors: [
    { line: 1, page: 1 },
    { line: 3, page: 2 },
    { line: 5, page: 3 },
  ],
}

test('a text is divided where its pages begin, and into parts that fit', () => {
  expect(divideText(pages, 10)).toEqual([
    [
      { place: { page: 1 }, isBeginning: true, text: 'one\n\n' },
      { place: { page: 2 }, isBeginning: true, text: 'two\n\n' },
    ],
    [{ place: { page: 3 }, isBeginning: true, text: 'three\n' }],
  ])
})

test('what stands before the first page has no place, and an empty text has no parts', () => {
  expect(divideText({ markdown: 'title\none\n', anchors: [{ line: 2, page: 1 }] }, 100)).toEqual([
    [
      { place: {}, isBeginning: true, text: 'title\n' },
      { place: { page: 1 }, isBeginning: true, text: 'one\n' },
    ],
  ])
  expect(divideText({ markdown: '', anchors: [] }, 100)).toEqual([])
})

test('a long page is cut between words, and never in a character', () => {
  const cut = divideText({ markdown: 'aaaa bbbb cccc', anchors: [{ line: 1, page: 7 }] }, 10)
  expect(cut.flat()).toEqual([
    { place: { page: 7 }, isBeginning: true, text: 'aaaa bbbb ' },
    { place: { page: 7 }, isBeginning: false, text: 'cccc' },
  ])
  expect(
    divideText({ markdown: '😀😀😀', anchors: [] }, 3)
      .flat()
      .map(({ text }) => text),
  ).toEqual(['😀', '😀', '😀'])
})

test('a part is found by a page, slide, sheet or time that stands in it', () => {
  const parts = divideText(pages, 5)
  expect([1, 2, 3, 99].map((page) => partAt(parts, { page }))).toEqual([0, 1, 2, 3 - 1])
  const times = divideText(
    {
      markdown: 'a\nb\n',
      anchors: [
        { line: 1, time: 3 },
        { line: 2, time: 60 },
      ],
    },
    2,
  )
  expect([0, 59, 60, 1000].map((time) => partAt(times, { time }))).toEqual([0, 0, 1, 1])
  const sheets = divideText(
    {
      markdown: 'a\nb\n',
      anchors: [
        { line: 1, sheet: 'A' },
        { line: 2, sheet: 'B' },
      ],
    },
    2,
  )
  expect(['A', 'B', 'C'].map((sheet) => partAt(sheets, { sheet }))).toEqual([0, 1, 0])
  expect(partAt([], { page: 1 })).toBe(0)
})

test('nothing is lost, and every part fits', () => {
  const anchors = fc.array(fc.record({ line: fc.integer({ min: 1, max: 30 }), page: fc.integer({ min: 1, max: 9 }) }))
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), anchors, fc.integer({ min: 2, max: 40 }), (text, unordered, max) => {
      const parts = divideText({ markdown: text, anchors: unordered.toSorted((a, b) => a.line - b.line) }, max)
      expect(
        parts
          .flat()
          .map((passage) => passage.text)
          .join(''),
      ).toBe(text)
      for (const part of parts)
        expect(part.reduce((sum, passage) => sum + passage.text.length, 0)).toBeLessThanOrEqual(max)
    }),
  )
})
