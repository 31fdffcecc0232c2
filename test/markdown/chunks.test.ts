import { describe, expect, test } from 'vitest'
import { findChunks } from '../../src/markdown/chunks/chunks.ts'
import { plainChunks } from '../../src/markdown/chunks/plain-chunks.ts'
import { hideMarks } from '../../src/markdown/obsidian-marks.ts'
import { parseMarkdown } from '../../src/markdown/parse/parse-markdown.ts'
import { plainText } from '../../src/markdown/plain-text.ts'
import type { Chunk } from '../../src/rules/neurons/chunk.ts'
import { fc, runs } from '../support/properties.ts'
import { extractChunks } from './extract-parts.ts'
import { markdown } from './markdown-arbitrary.ts'
import { pageOfBlocks } from './page-of-blocks.ts'

const words = (count: number, word = 'word') => Array.from({ length: count }, (_, index) => `${word}${index}`).join(' ')
/** Texts of some 300, 700 and 1,500 characters. */
const [short, medium, long] = [words(45), words(95), words(190)]

describe('a chunk', () => {
  test('is the text under a heading, which stands in its breadcrumb', () => {
    expect(extractChunks(`# Page\n\n${short}\n\n## On *call*\n\n**${medium}**\n`)).toEqual([
      { headings: ['Page'], content: short, text: short },
      { headings: ['Page', 'On call'], content: `**${medium}**`, text: medium },
    ])
  })

  test('has a path of headings, not a list of them', () => {
    const page = ['# A', '### B', '## C', '# D'].map((heading) => `${heading}\n\n${short}\n`).join('\n')
    expect(extractChunks(page).map(({ headings }) => headings.join(' > '))).toEqual(['A', 'A > B', 'A > C', 'D'])
    expect(extractChunks(`Title\n=====\n\n${short}`)[0]?.headings).toEqual(['Title'])
  })

  test('stands under no heading before the first, and under none in a quote or a list', () => {
    expect(extractChunks(`${short}\n\n> # Quoted\n\n- # Listed`)).toEqual([
      { headings: [], content: `${short}\n\n> # Quoted\n\n- # Listed`, text: `${short}\nQuoted\nListed` },
    ])
  })

  test('holds blocks that are neighbours as far as they fit', () => {
    const page = [short, short, short, medium, medium].join('\n\n')
    expect(extractChunks(page).map(({ text }) => text)).toEqual([[short, short, short].join('\n'), medium, medium])
  })

  test('of a little rest is added to the one before', () => {
    const rest = words(20)
    expect(extractChunks([medium, short, rest].join('\n\n')).map(({ text }) => text)).toEqual([
      [medium, short, rest].join('\n'),
    ])
  })

  test('never crosses sections, however short they are, unless little ones are neighbours', () => {
    const page = `# Glossary\n\n## A\n\nFirst.\n\n## B\n\nSecond.\n\n## C\n\n${medium}\n\n## D\n\nLast.`
    expect(extractChunks(page)).toEqual([
      { headings: ['Glossary'], content: '## A\n\nFirst.\n\n## B\n\nSecond.', text: 'A\nFirst.\nB\nSecond.' },
      { headings: ['Glossary', 'C'], content: medium, text: medium },
      { headings: ['Glossary', 'D'], content: 'Last.', text: 'Last.' },
    ])
  })

  test('is made of a heading with nothing under it, so that it is found', () => {
    expect(extractChunks('# A\n\n## B')).toEqual([{ headings: ['A'], content: '## B', text: 'B' }])
    expect(extractChunks('# A')).toEqual([{ headings: [], content: '# A', text: 'A' }])
  })

  test('has no heading of more than 200 characters in its breadcrumb', () => {
    expect(extractChunks(`# ${short}\n\nText.`)).toEqual([
      { headings: [], content: `# ${short}\n\nText.`, text: `${short}\nText.` },
    ])
  })

  test.each(['', ' \n\n', '<!-- nothing -->', '[a]: /u', '---', '#', '<div></div>'])('is none in %j', (content) => {
    expect(extractChunks(content)).toEqual([])
  })

  test('shows neither the type of a callout nor the id of a block', () => {
    expect(
      extractChunks('> [!warning]- Mind *the* gap\n> It is wide.\n\n- item ^a-1\n\nText. ^b2\n\n^c3\n\n# Last ^d4'),
    ).toEqual([
      expect.objectContaining({ text: 'Mind the gap\nIt is wide.\nitem\nText.' }),
      { headings: [], content: '# Last ^d4', text: 'Last' },
    ])
    expect(extractChunks('> [!tip]\n> Do.\n\n[!tip] x^2 2^n')[0]?.text).toBe('Do.\n[!tip] x^2 2^n')
  })
})

describe('a long block is taken apart', () => {
  const lengths = (content: string) => extractChunks(content).map((chunk) => chunk.content.length)

  test('a paragraph between sentences', () => {
    const sentence = (n: number) => `Sentence ${n} ${words(12)}. `
    const page = Array.from({ length: 30 }, (_, n) => sentence(n)).join('')
    const chunks = extractChunks(page)
    expect(chunks.length).toBeGreaterThan(2)
    for (const { content, text } of chunks) {
      expect(text).toMatch(/^Sentence .*\.$/)
      expect(content).toBe(text)
    }
  })

  test('a quoted paragraph between lines, though each begins with a mark', () => {
    const page = Array.from({ length: 30 }, (_, n) => `> Line ${n} ${words(10)}`).join('\n')
    for (const { content, text } of extractChunks(page)) {
      expect(text).toMatch(/^Line /)
      expect(content.replaceAll('\n> ', ' ').replace(/^> /, '')).toBe(text)
    }
  })

  test('a list between items, and a long item between its blocks', () => {
    const page = Array.from({ length: 30 }, (_, n) => `- item ${n} ${words(10)}`).join('\n')
    for (const { content } of extractChunks(page)) expect(content).toMatch(/^- item /)
    const item = `- ${medium}\n\n  ${medium}\n  - nested`
    expect(extractChunks(item).map(({ content }) => content)).toEqual([`- ${medium}`, `- ${medium}\n  - nested`])
  })

  test('a row between cells, which stay in their columns, and a code span and a link within their marks', () => {
    const rows = `| a | b |\n| - | - |\n| ${medium} | ${medium} |`
    expect(extractChunks(rows).map(({ content }) => content)).toEqual([
      `| a | b |\n| - | - |\n| ${medium}`,
      `| a | b |\n| - | - |\n| | ${medium} |`.replace('| | ', '| | '),
    ])
    for (const { content } of extractChunks(`\`${long}\``)) expect(content).toMatch(/^`word.*\d`$/)
    for (const { content } of extractChunks(`> [**${long}**](/u)`))
      expect(content).toMatch(/^> \[\*\*word.*\d\*\*]\(\/u\)$/)
  })

  test('but a line that announces it stays with its beginning, and in an item is told with each part', () => {
    const items = Array.from({ length: 30 }, (_, n) => `- item ${n} ${words(10)}`)
    const full = long.slice(0, 960).trim()
    const list = extractChunks(`${full}\n\nThese:\n\n${items.join('\n')}`)
    expect(list[0]?.content).toBe(full)
    expect(list[1]?.content).toMatch(/^These:\n\n- item 0 /)
    const nested = extractChunks(`- Those:\n${items.map((item) => `  ${item}`).join('\n')}`)
    expect(nested.length).toBeGreaterThan(2)
    for (const { content } of nested) expect(content).toMatch(/^- Those:\n {2}- item /)
  })

  test('code between lines, with its fences', () => {
    const lines = Array.from({ length: 60 }, (_, n) => `  call(${n}, ${words(5)})`)
    const chunks = extractChunks(['```ts', ...lines, '```'].join('\n'))
    expect(chunks.length).toBeGreaterThan(2)
    for (const { content } of chunks) expect(content).toMatch(/^```ts\n {2}call\([^`]*\n```$/)
    expect(
      chunks
        .map(({ text }) => text.trim())
        .join('\n')
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(lines.map((line) => line.trim()))
  })

  test('a table between rows', () => {
    const rows = Array.from({ length: 40 }, (_, n) => `| row ${n} | ${words(10)} |`)
    const chunks = extractChunks(['| a | b |', '| - | - |', ...rows].join('\n'))
    expect(chunks.length).toBeGreaterThan(2)
    for (const { content, text } of chunks) {
      expect(content).toMatch(/^\| a \| b \|\n\| - \| - \|\n\| row /)
      expect(text).toMatch(/^a b\nrow /)
    }
    expect(chunks.flatMap(({ text }) => text.split('\n').slice(1))).toHaveLength(40)
  })

  test('a sentence between words, and a word between characters', () => {
    const chunks = extractChunks(long)
    expect(chunks.map(({ text }) => text).join(' ')).toBe(long)
    const emoji = extractChunks(`x${'👩'.repeat(2000)}`)
    expect(emoji.map(({ text }) => text).join('')).toBe(`x${'👩'.repeat(2000)}`)
    for (const { text } of emoji) expect(text.isWellFormed()).toBe(true)
  })

  test('an image by its alt text, whatever data its address holds', () => {
    expect(lengths(`![a chart](data:image/png;base64,${'A'.repeat(50_000)})`)).toEqual([1200])
    expect(
      extractChunks(`See ![a chart](data:,${'A'.repeat(9000)}) here.`)
        .map(({ text }) => text)
        .join(' '),
    ).toBe('See a chart here.')
  })

  test('into 2,000 chunks at most', () => {
    const sections = Array.from({ length: 2500 }, (_, n) => `# ${n}\n\n${words(30)}`).join('\n\n')
    const chunks = extractChunks(sections)
    expect(chunks.length).toBeLessThanOrEqual(2000)
    expect(chunks.at(-1)?.text).toContain('2499')
    expect(plainChunks('x'.repeat(4_000_000))).toHaveLength(2000)
  })
})

test.each([
  ['paragraphs', 'a\n\n'],
  ['items', '- a\n'],
  ['headings', '# a\n'],
])('a page as large as one may be, of the smallest %s, has chunks', (_, block) => {
  const count = Math.floor(runs(512 * 1024, 64 * 1024) / block.length)
  const { chunks, isPartial } = findChunks(block.repeat(count))
  expect(isPartial).toBe(false)
  expect(chunks.length).toBeGreaterThan(10)
  expect(chunks.map(({ text }) => text.replace(/\s/g, '')).join('')).toBe('a'.repeat(count))
})

describe('the chunks of any page', () => {
  const page = fc
    .array(
      fc.oneof({ weight: 4, arbitrary: markdown }, fc.constantFrom(`\n\n${medium}\n\n`, ` ${long}`, '\n\n## H\n\n')),
      {
        maxLength: 5,
      },
    )
    .map((parts) => parts.join(''))

  const shown = (content: string) => {
    const tree = parseMarkdown(content)
    hideMarks(tree)
    return plainText(tree).replace(/\s/g, '')
  }

  test('hold every character that a reader sees once, in their order, but for heads that are told again', () => {
    fc.assert(
      fc.property(page, (content) => {
        const chunks = extractChunks(content)
        for (const chunk of chunks) {
          expect(chunk.content.length).toBeLessThanOrEqual(2600)
          expect(chunk.text).not.toBe('')
        }
        expect(spells(chunks, shown(content))).toBe(true)
      }),
      { numRuns: runs(2000) },
    )
  })

  test('are each read as what they were cut from', { timeout: 180_000 }, () => {
    fc.assert(
      fc.property(pageOfBlocks, (content) => {
        const chunks = extractChunks(content)
        expect(spells(chunks, shown(content))).toBe(true)
        for (const { content: own, text } of chunks) expect(shown(own)).toBe(text.replace(/\s/g, ''))
      }),
      { numRuns: 60 },
    )
  })

  test('show what a common note shows', () => {
    const note =
      '# Title\n\nSee [[On-call rotation|rota]], **now**, `<T>` and\n[the docs](https://x.y/z_a).  \nR & D: snake_case.\n\n' +
      '- one *a*\n  - two ![[b.png|300]]\n    - three\n- [x] four ^id\n\n1. five\n2. six\n\n---\n\n```ts\nconst x = [[1]] as <T>\n```\n'
    expect(extractChunks(note)[0]?.text).toBe(
      'See rota, now, <T> and the docs.\nR & D: snake_case.\none a\ntwo b.png\nthree\nfour\nfive\nsix\nconst x = [[1]] as <T>',
    )
  })

  test.each([
    ['a code span over runs of backticks', '`a``b`', 'a``b'],
    ['delimiters within words', 'a*b* 2 * 3 *c*d', 'ab 2 * 3 cd'],
    ['emphasis in emphasis', '*a **b** c*', 'a b c'],
    ['an autolink that takes delimiters', 'https://a.b/*c* *d*', 'https://a.b/*c* d'],
    ['a number that is no item', '2024. was\n\n2024 was', 'was\n2024 was'],
    ['a list that goes on after a blank line', '- a\n\n  b\n\n      c', 'a\nb\nc'],
    ['a list that goes on with too much indentation', '- a\n      - b', 'a - b'],
    ['an ordered list in the midst of a paragraph', '- a\n  2. b', 'a 2. b'],
    ['private use characters', '*a* \uE000 \uE001 [[b]]', 'a \uE000 \uE001 b'],
    ['a definition far away', '[a] [b](c)\n\n[a]: /u', 'a b'],
    ['an item with two block ids, of which only the last is one', '1.  ^id1 ^id2', '^id1'],
    ['underlined headings', 'a\n---\n\nb', 'b'],
    ['a table', 'a | b\n:-: | -\nc | d', 'a b\nc d'],
  ])('are not misled by %s', (_name, content, text) => {
    expect(
      extractChunks(content)
        .map((chunk) => chunk.text)
        .join('\n'),
    ).toBe(text)
  })
})

describe('dividing a text without a parser', () => {
  const parts = [
    '[[a',
    '![',
    '`a',
    '*a ',
    '_a',
    ' *a*',
    '- ',
    '\n- a',
    '\n  - a',
    '# ',
    '\n# a\n',
    '(',
    '~',
    '&',
    '<',
    '|',
  ]

  test.each([...parts, 'a\n\n', '. ', '\n', ' ', 'a@b ', '::', '[a](b', '[a](', '  \n', '👩', 'x'])(
    'takes time linear in hostile text: %j',
    (part) => {
      const text = `x ${part.repeat(300_000 / part.length)}\nx`
      // More than linear time is more than the test has.
      expect(plainChunks(text).length).toBeGreaterThan(0)
    },
  )

  test('of a text that is not parsed shows its source, by paragraphs and lines', () => {
    expect(plainChunks(`# A\n\n${medium}\r\n\r\n${medium}`)).toEqual([
      { headings: [], content: `# A\n\n${medium}`, text: `# A\n${medium}` },
      { headings: [], content: medium, text: medium },
    ])
    expect(plainChunks(`${medium}\n${medium}`).map(({ text }) => text)).toEqual([medium, medium])
    expect(plainChunks(' \n')).toEqual([])
    fc.assert(
      fc.property(markdown, (content) => {
        expect(
          plainChunks(content)
            .map(({ text }) => text.replace(/\s/g, ''))
            .join(''),
        ).toBe(content.replace(/\s/g, ''))
      }),
    )
  })
})

/**
 * Whether the chunks' texts in their order, each heading before the first chunk under it, are the text without its blanks. The first
 * lines of a chunk, six at most, may be told again.
 */
function spells(chunks: readonly Chunk[], text: string): boolean {
  let ends = new Set([0])
  for (const chunk of chunks) {
    const parts = [...chunk.headings, ...chunk.text.split('\n')].map((part) => part.replace(/\s/g, ''))
    const endings = parts.slice(0, chunk.headings.length + 6).map((_, index) => parts.slice(index).join(''))
    ends = new Set(
      [...ends].flatMap((end) =>
        endings.filter((ending) => text.startsWith(ending, end)).map((ending) => end + ending.length),
      ),
    )
  }
  return ends.has(text.length)
}
