import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { describe, expect, test } from 'vitest'
import { treePieces } from '../../../src/markdown/chunks/tree-pieces.ts'
import { treeLinks } from '../../../src/markdown/links/links.ts'
import { isTooComplex } from '../../../src/markdown/parse/parse-cost.ts'
import { parseMarkdown } from '../../../src/markdown/parse/parse-markdown.ts'
import { splitParts } from '../../../src/markdown/parse/parse-parts.ts'
import { remarkWikiLink } from '../../../src/markdown/parse/wiki-link.ts'
import { parsePage } from '../../../src/markdown/pool/parse-worker.ts'
import { fc, runs } from '../../support/properties.ts'
import { markdown } from '../markdown-arbitrary.ts'

const treacherous = fc.constantFrom(
  ...[
    '\n- [[a]]',
    '\n* `b',
    '\n- - -',
    '\n-',
    '\n  ```',
    '\n```',
    '\n- ```',
    '\n~~~',
    '\n    ```',
    '\n\t- [[c]]',
    '\n      - x',
  ],
  ...[
    '\n\n',
    '\n> ',
    '\n> ```',
    '\n<div>',
    '\n<!--',
    '-->',
    '\n</div>',
    '\n<https://x.y>',
    '\n1. ',
    '\n2. ',
    '\n| a |',
    '\n- | -',
  ],
  ...['\n# h', '\n===', '\n[^1]', '\n  text [[b]]', 'x`', '[y](z.md)', '\n   ```js', '\n3.```', ' ```'],
)
const page = fc.oneof(
  markdown,
  fc.array(treacherous, { maxLength: 25 }).map((pieces) => pieces.join('')),
)

test('a text is parsed as remark with all of GFM parses it, whether or not it may hold addresses and tables', () => {
  const whole = unified().use(remarkParse).use(remarkGfm).use(remarkWikiLink).freeze()
  const address = fc.constantFrom(
    'ww',
    'w.a.b',
    'http:',
    '//a.b',
    ':/',
    '/a',
    '&#64;',
    'a&commat;b.c',
    '\\/',
    'HTTPS://A.B',
    ' a',
  )
  const table = fc.constantFrom(
    'a',
    '|',
    ':',
    '-',
    '\n',
    '\n> ',
    '\n  ',
    '\n- ',
    '\n[^1]: ',
    '\r',
    '\t',
    '\\|',
    '`',
    '[[a|b]]',
  )
  const some = (piece: fc.Arbitrary<string>) => fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  const text = fc.oneof(markdown, some(address), some(table))
  fc.assert(
    fc.property(text, (content) => {
      expect(parseMarkdown(content)).toEqual(whole.parse(content))
    }),
    { numRuns: runs(2000) },
  )
})

describe('the parts of a page', () => {
  test('hold together the page, and give its links and blocks', () => {
    fc.assert(
      fc.property(page, fc.integer({ min: 1, max: 20 }), (content, length) => {
        const parts = splitParts(content, length)
        expect(parts.map(({ source }) => source).join('')).toBe(content)
        const links = parts.flatMap(({ source, line }) => treeLinks(parseMarkdown(source), line))
        expect(links).toEqual(treeLinks(parseMarkdown(content)))
        const pieces = parts.flatMap(({ source, start }) => treePieces(parseMarkdown(source), content, start))
        const whole = treePieces(parseMarkdown(content), content)
        expect(pieces.map(({ text, depth }) => [text, depth])).toEqual(whole.map(({ text, depth }) => [text, depth]))
      }),
      { numRuns: runs(700) },
    )
  })

  test('of an outline are small', () => {
    const outline = '- item\n\t- [[a]]\n\t  id:: 1\n\t  ```js\n\t  x()\n\t  ```\n'.repeat(5000)
    expect(Math.max(...splitParts(outline).map(({ source }) => source.length))).toBeLessThan(20_000)
  })
})

test.each(['links', 'chunks', 'places'] as const)('a fence may be as long as a page: %s', (wants) => {
  const fence = '`'.repeat(100_000)
  expect(parsePage({ content: `${fence}\n[[a]]\n${fence}\n\n[[b]]`, wants }).isPartial).toBe(false)
})

describe('a text is too complex', () => {
  test.each([
    ['emphasis', '*a_ '],
    ['brackets', '['],
    ['closing brackets', ']'],
    ['comments', 'x <!--'],
    ['destinations', '[a]('],
    ['underlines', 'a\n-\n'],
    ['lazy lines', '> a\nb\n'],
    ['strikes', 'a~b '],
    ['items that are none', '      - *a_\n'],
    ['items of another number', '2. *a_\n'],
    ['rows of no table', '| *a_ |\n'],
  ])('with many %s', (_name, piece) => {
    expect(isTooComplex(`x ${piece.repeat(100_000 / piece.length)}`)).toBe(true)
  })

  test.each([
    ['in a fence that its list has ended', `1. a\n   \`\`\`\n${'*a_ '.repeat(20_000)}`],
    ['behind an empty item', `-\n  \`\`\`\n${'*a_ '.repeat(20_000)}`],
    ['with lazy lines of one item', `- a\n${'b\n'.repeat(20_000)}`],
    ['with lazy lines of a footnote', `[^1]: a\n${'b\n'.repeat(20_000)}`],
    ['behind HTML', `<div>\n\`\`\`\n\n${'*a_ '.repeat(20_000)}`],
    ['nested', '> '.repeat(200)],
    ['long', 'a '.repeat(200_000)],
    ['with lists within lists', '1. a\n   - b\n'.repeat(5000)],
    ['with lists on one line', 'x\n>- 1. a\n'.repeat(5000)],
    ['with more items than memory holds', '- a\n  '.repeat(20_000)],
    ['with more links than memory holds', '[a](b) '.repeat(20_000)],
    ['with quotes within items', '1. a\n   > b\n'.repeat(5000)],
  ])('also %s', (_name, text) => {
    expect(isTooComplex(text)).toBe(true)
  })

  test.each([
    ['a table', `| a | b |\n| - | - |\n${'| [c](d) *e* | **f** |\n'.repeat(5000)}`],
    ['a list', '- [x](<a b.md>) *c* **d**\n'.repeat(5000)],
    ['numbers', '1. [x](<a b.md>) *c* **d**\n'.repeat(5000)],
    ['nested items of one list', `1. root\n${'   - a\n\n     b\n'.repeat(5000)}`],
    ['a list in a quote', '> - a\n'.repeat(5000)],
    ['code', `\`\`\`js\n${'a[1] * b_c < d\n'.repeat(5000)}\`\`\`\n`],
    ['code in a list', `- \`\`\`js\n${'  a[1] * b_c < d\n'.repeat(5000)}  \`\`\`\n`],
    ['links below each other', '[[Some page or other]]\n'.repeat(5000)],
    ['paragraphs', `${'Some *words* and [links](a.md). '.repeat(30)}\n\n`.repeat(200)],
  ])('and not with %s', (_name, text) => {
    expect(isTooComplex(text)).toBe(false)
  })
})
