import type { Nodes } from 'mdast'
import { expect, test } from 'vitest'
import { parseMarkdown } from '../../../../src/markdown/parse/parse-markdown.ts'
import { fencedLines } from '../../../../src/sources/extract/markdown/fenced-lines.ts'
import { fc, runs } from '../../../support/properties.ts'

const known: [string, string][] = [
  ['a fence at the top', '~~~\na\n~~~\nb'],
  ['another sign, and a shorter one', '````\n~~~\n```\na\n`````\nb'],
  ['a fence that is closed less far in', '   ~~~\na\n~~~\nb'],
  ['one that is closed too far in', '~~~\n    ~~~\na'],
  ['indented code', 'a\n\n    ~~~\n    b'],
  ['inline code', '```a```\nb'],
  ['an item', '- ~~~\n  a\n  ~~~\nb'],
  ['an item that ends', '1. a\n   ```\n   b\nc\n```\nd'],
  ['a line less far in, which is blank', '- ```\n  a\n\n  b\n  ```\nc'],
  ['nested items, with tabs', '- a\n\t- b\n\n\t  ```\n\t  c\n\t  ```\n\td\n\n\t```\n\te\n\t```'],
  ['an item of code', '-     ~~~\n\n  ~~~\n  a'],
  ['an empty item', '-\n  ~~~\n  a\n  ~~~\n\n-\n\n  ~~~\na'],
  ['a next item', '2. a\n3. ~~~\n   b\n4. c'],
  ['a quote', '> ~~~\n> a\n> ~~~\n> b'],
  ['a quote that ends', '> ~~~\n> a\nb\n> ~~~'],
  ['a quote in an item in a quote', '> - > ```\n>   > a\n>   > ```\n> - b\n>   ```\n>   c\nd'],
  ['lazy lines', '- a\nb\n  ~~~\n  c\nd'],
  ['a quote further in', '> - ~~~\n  > a'],
  ['headings and rules', '# a\n~~~\nb\n~~~\n***\n- - -\nc\n===\n2. ~~~\n   d\n'],
  ['behind what parsers read differently', '[^1]: a\n2. b\n\nc\n~~~\nd\n~~~\ne'],
]

test.each(known)('fenced code: %s', (_, text) => {
  expect(fencedLines(text.split('\n'))).toEqual(byParser(text))
})

test.each([
  ['a footnote', '[^1]: ~~~\n    a\n\n~~~\nb'],
  ['an item that may be of the paragraph', 'a\n2. ~~~\n   b\n\n~~~\nc'],
  ['definitions that may be underlined', '[a]: b\n===\n2. ~~~\n   c'],
  ['an item below the head of a table', '| a |\n-\n   ~~~\nb'],
  ['an item behind what may be a table', '| a |\n    b\n\n1.\n\n   ~~~\n   c'],
])('none is behind a fence that parsers read differently: %s', (_, text) => {
  expect(fencedLines(text.split('\n'))).not.toContain(true)
})

test('a fence may be as long as a document', () => {
  const fence = '`'.repeat(200_000)
  expect(fencedLines([fence, '```', fence, 'a'])).toEqual([true, true, true, false])
})

test('no line is fenced code that is none for a parser', () => {
  const fences = [
    '~~~',
    '```',
    '~~~~',
    '```js',
    '~~~ `x`',
    ' ~~~',
    '  ~~~',
    '   ~~~',
    '    ~~~',
    '\t~~~',
    '\n~~~',
    '\n  ~~~',
  ]
  const ends = ['\n', '\n', '\n', '\n\n', '\n  ', '\n   ', '\n    ', '\n\u00A0\n']
  const containers = [
    '> ',
    '>',
    '- ',
    '-\n',
    '* ',
    '+\t',
    '1. ',
    '2. ',
    '10) ',
    '1.',
    '01. ',
    '\n- ',
    '\n> ',
    '\n1. ',
    '[^1]: ',
  ]
  const others = [
    'a',
    '# h',
    '---',
    '===',
    '- - -',
    '| a |',
    '| - |',
    '[a]: x',
    '`',
    'a `b`',
    ' ',
    '  ',
    '\t',
    '     ',
    '\u00A0',
  ]
  const text = fc.array(fc.constantFrom(...fences, ...ends, ...containers, ...others), { maxLength: 24 })
  fc.assert(
    fc.property(text, (pieces) => {
      const markdown = pieces.join('')
      const parsed = byParser(markdown)
      expect(fencedLines(markdown.split('\n')).filter((isFenced, at) => isFenced && !parsed[at])).toEqual([])
    }),
    { numRuns: runs(2000) },
  )
})

function byParser(text: string): boolean[] {
  const lines = text.split('\n')
  const isFenced = lines.map(() => false)
  const visit = (node: Nodes) => {
    const { start, end } = node.position ?? {}
    const isCode = node.type === 'code' && /[`~]/.test(text[start?.offset ?? 0] ?? '')
    if (isCode && start && end) {
      // Code that ends with its item may end at the beginning of the next line.
      const isNext = end.column === 1 && /[^\s>]/.test(lines[end.line - 1] ?? '')
      isFenced.fill(true, start.line - 1, isNext ? end.line - 1 : end.line)
    }
    if ('children' in node) node.children.forEach(visit)
  }
  visit(parseMarkdown(text))
  return isFenced
}
