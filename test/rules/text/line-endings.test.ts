import { expect, test } from 'vitest'
import { keepLineEndings } from '../../../src/rules/text/line-endings.ts'
import { fc } from '../../support/properties.ts'

test.each([
  ['what a browser sends becomes LF', 'a\nb\n', 'a\r\nB\r\nc\r\n', '\n', 'a\nB\nc\n'],
  ['a file of CRLF keeps it', 'a\r\nb\r\n', 'a\nx\nb\n', '\r\n', 'a\r\nx\r\nb\r\n'],
  ['lines that stay keep their own ending', 'a\r\nb\nc\rd', 'a\r\nB\r\nc\r\nd', '\n', 'a\r\nB\nc\rd'],
  ['a line that gets an ending gets the usual one', 'a', 'a\r\nb', '\n', 'a\nb'],
  ['new lines get the most frequent one', 'a\r\nb\r\nc\nd', 'a\nx\nb\nc\nd', '\n', 'a\r\nx\r\nb\r\nc\nd'],
  ['lines between two changes keep theirs', 'a\r\nb\nc\nd\r\n', 'A\nx\nb\nc\nD\n', '\n', 'A\nx\nb\nc\nD\r\n'],
  ['CR and the LF after an empty line stay two', 'a\rb\nc\n', 'a\n\nc\n', '\n', 'a\r\r\nc\n'],
  ['nothing comes of nothing', '', '', '\n', ''],
])('%s', (_, before, typed, eol, kept) => {
  expect(keepLineEndings(before, typed, eol === '\n' ? '\n' : '\r\n')).toBe(kept)
})

const text = fc.array(fc.constantFrom('a', 'b', '', '\n', '\r\n', '\r', '🙂')).map((parts) => parts.join(''))

test('a text that was only shown and sent again is byte for byte the same', () => {
  fc.assert(
    fc.property(text, (before) => keepLineEndings(before, before.replace(/\r\n|\r|\n/g, '\r\n'), '\n') === before),
  )
})

test('a line that is changed, and typed with LF, is all that changes', () => {
  const ending = fc.constantFrom('\n', '\r\n', '\r')
  const page = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', '# d'), ending), { minLength: 1 })
  fc.assert(
    fc.property(page, fc.nat(), (lines, n) => {
      const at = n % lines.length
      const text = (change: string, eol?: string) =>
        lines.map(([line, own], i) => (i === at ? change : line) + (eol ?? own)).join('')
      const [line = ''] = lines[at] ?? []
      expect(keepLineEndings(text(line), text('new', '\n'), '\n')).toBe(text('new'))
    }),
  )
})

test('only line endings differ from what was typed', () => {
  const lines = (it: string) => it.split(/\r\n|\r|\n/)
  fc.assert(
    fc.property(text, text, (before, typed) => {
      expect(lines(keepLineEndings(before, typed, '\n'))).toEqual(lines(typed))
    }),
  )
})
