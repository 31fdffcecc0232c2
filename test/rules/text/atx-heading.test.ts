import { expect, test } from 'vitest'
import { parseMarkdown } from '../../../src/markdown/parse/parse-markdown.ts'
import { atxHeading } from '../../../src/rules/text/atx-heading.ts'
import { fc } from '../../support/properties.ts'

test.each([
  ['# One', 1, 'One'],
  ['   ###### Six ######  ', 6, 'Six'],
  ['## C#', 2, 'C#'],
  ['# a # b #', 1, 'a # b'],
  ['#\tTab\t#', 1, 'Tab'],
  ['#', 1, ''],
  ['### ###', 3, ''],
  ['# a #\u00A0', 1, 'a #\u00A0'],
])('%o is a heading', (line, level, text) => {
  expect(atxHeading(line)).toEqual({ level, text })
})

test.each(['#one', '####### seven', '    # code', 'a # b', ''])('%o is none', (line) => {
  expect(atxHeading(line)).toBeUndefined()
})

test('a line is what the parser takes it for', () => {
  const line = fc.array(fc.constantFrom('#', '##', ' ', '  ', '\t', 'a', 'b', '#c'), { maxLength: 12 })
  fc.assert(
    fc.property(line, (pieces) => {
      const text = pieces.join('')
      const [block] = parseMarkdown(text).children
      const heading = block?.type === 'heading' ? block : undefined
      const shown = heading?.children.map((child) => ('value' in child ? child.value : '')).join('')
      expect(atxHeading(text)).toEqual(heading && { level: heading.depth, text: shown })
    }),
  )
})
