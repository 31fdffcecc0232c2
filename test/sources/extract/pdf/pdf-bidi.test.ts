import bidi, { type Bidi } from 'bidi-js'
import { expect, test } from 'vitest'
import { logicalWords } from '../../../../src/sources/extract/pdf/bidi-words.ts'
import { withLogicalOrder } from '../../../../src/sources/extract/pdf/pdf-bidi.ts'
import { fc } from '../../../support/properties.ts'
import { extractBytes } from '../conformance.ts'
import { type PdfPage, writePdf } from '../support/pdf-writer.ts'

// Its types tell of a default that its module, which is CommonJS, does not have.
const { getEmbeddingLevels, getReorderedString } = (bidi as unknown as () => Bidi)()

/** Returns a line as seen from left to right, by an independent implementation of UAX #9. */
function seen(line: string, direction: 'rtl' | 'ltr' = 'rtl'): string {
  return getReorderedString(line, getEmbeddingLevels(line, direction))
}

/** A page whose lines end at its right margin. */
function page(lines: readonly string[]): PdfPage {
  return {
    texts: lines.map((line, at) => ({ text: seen(line), x: 540 - 5.4 * line.length, y: 740 - 16 * at })),
  }
}

test('lines from right to left are read in that order, with what runs from left to right in them', async () => {
  const lines = [
    'הדוח הרבעוני של החברה מציג את ההכנסות וההוצאות של החברה',
    'של שנת 2024, שבה השתמשנו בתוכנת Microsoft Excel 365 לראשונה.',
    'עלות (כולל מס) היא 47.500 שקלים, כפי שנקבע ביום 19/09/2024 בישיבה.',
  ]
  const { markdown } = await extractBytes('pdf', writePdf([page(lines)]))
  expect(markdown.replace(/\s+/g, ' ')).toBe(lines.join(' '))
})

test('a quotation in a line from left to right is read from its right', async () => {
  const line = 'The sign says שלום לכל העולם and it has said so for years.'
  const text = [{ text: seen(line, 'ltr'), x: 60, y: 700 }]
  const { markdown } = await extractBytes('pdf', writePdf([{ texts: text }]))
  expect(markdown).toBe(line)
})

test('columns are read from the right one on', async () => {
  const column = (name: string, x: number) =>
    Array.from({ length: 20 }, (_, at) => ({ text: seen(`זה הוא הטור ה${name} ובו שורות רבות`), x, y: 760 - 16 * at }))
  const texts = [...column('ראשון', 330), ...column('שני', 60)]
  const pages = await withLogicalOrder(writePdf([{ texts }]), [1])
  const markdown = pages.get(1)?.markdown ?? ''
  expect(markdown.match(/הראשון/g)).toHaveLength(20)
  expect(markdown.lastIndexOf('הראשון')).toBeLessThan(markdown.indexOf('השני'))
})

const word = fc.constantFrom('שלום', 'עולם', 'ספר', 'חדש', 'בית', 'ירוק', 'Excel', 'Word', '2024', '47.500', '3')
const base = fc.constantFrom('שלום', 'עולם')

test('words come back in logical order, whatever stands beside what', () => {
  const property = (first: string, words: string[], last: string) => {
    // Numbers before words of the other direction can be seen of two logical orders.
    const all = [first, ...words.filter((each, at) => !/^\d/.test(each) || !/^[A-Z\d]/.test(words[at + 1] ?? '')), last]
    let x = 0
    const boxes = seen(all.join(' '))
      .split(' ')
      .map((text) => {
        const box = { text: lettersInOrder(text), x, y: 0, width: text.length * 6, height: 10 }
        x += box.width + 5
        return box
      })
    const read = logicalWords(boxes, 'rtl').toSorted((one, other) => other.x - one.x)
    expect(read.map(({ text }) => text).join(' ')).toBe(all.join(' '))
  }
  fc.assert(fc.property(base, fc.array(word, { maxLength: 8 }), base, property))
})

/** The reader of PDFs gives the letters of each word in logical order. */
function lettersInOrder(text: string): string {
  return /[\u05d0-\u05ea]/.test(text) ? [...text].reverse().join('') : text
}
