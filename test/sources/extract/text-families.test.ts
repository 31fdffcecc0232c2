import { describe, expect, test } from 'vitest'
import { extractBytes, extractorConformance } from './conformance.ts'

extractorConformance({
  fileType: 'txt',
  readable: {
    paragraphs: {
      bytes: 'A title\n\nOne\nparagraph with <b> and [[x]].\n\n# no heading\n',
      title: 'A title',
      contains: ['One', 'no heading'],
    },
    'one line of a megabyte': { bytes: 'word '.repeat(200_000), contains: ['word'] },
  },
  refused: { 'a text of blanks': { bytes: ' \n\t\n', problems: ['empty'] } },
})

extractorConformance({
  fileType: 'md',
  readable: {
    'a page with front matter': {
      bytes:
        '---\ntitle: Of it\ntags: [a]\n---\nHead\n====\n\ntext ![i](x.png) <br> [l](other.md)\n\n```\n<kept>\n```\n',
      title: 'Of it',
      contains: ['# Head', 'text i', 'l', '<kept>'],
    },
    'brackets without end': { bytes: `a ${'['.repeat(100_000)}`, contains: ['a ['] },
    'backticks and brackets without end': { bytes: '[a](b)`<'.repeat(50_000), contains: ['a'] },
  },
  refused: { 'nothing but front matter': { bytes: '---\ntitle: a\n---\n', problems: ['empty'] } },
})

extractorConformance({
  fileType: 'csv',
  readable: {
    'semicolons, quotes and pipes': {
      bytes: 'name;text\n"A ""a""";"one\ntwo"\nB|b;<i>\n',
      contains: ['| name | text |', 'A "a"', 'one two', 'B\\|b', '\\<i>'],
    },
    'a value of three megabytes': {
      bytes: `a,b\n1,${'x'.repeat(3_000_000)}\n2,y\n`,
      contains: ['| 1 | xxx', '| 2 | y |'],
    },
    'a quote that is not closed': { bytes: `a,b\n1,"${'x,y\n'.repeat(100_000)}`, contains: ['| 1 | x,y x,y'] },
  },
  refused: { 'lines of commas': { bytes: ',,\n,,\n', problems: ['empty'] } },
})

const wrapped = (text: string) => `<div><p>${text}</p></div>`
const links = Array.from({ length: 4 }, (_, at) => `<a href="https://owls.example/${at}">species ${at}</a>`).join(
  ' or ',
)

extractorConformance({
  fileType: 'html',
  readable: {
    'paragraphs in blocks of their own, one with many links': {
      bytes: `<!doctype html><title>Owls</title><article>${[
        wrapped('Owls hunt at night, and they hear a mouse below the snow, as many people have written.'.repeat(3)),
        wrapped(`Most of the owls that live in the forests of the north, and in parks of towns, belong to ${links}.`),
        wrapped(
          'Owls sleep by day, and they hide from crows, which drive them away, wherever they see them.'.repeat(3),
        ),
      ].join('')}</article>`,
      title: 'Owls',
      contains: ['hunt at night', 'forests of the north', 'hide from crows'],
    },
    'a page': {
      bytes:
        '<!doctype html><title>Owls</title><nav>Menu</nav><h1>Owls &amp; others</h1><p>They <a href="javascript:x">see</a>.</p>',
      title: 'Owls',
      contains: ['# Owls & others', 'They see.'],
    },
    'a page of another encoding': {
      bytes: Buffer.from('<meta charset="windows-1251"><p>\xcc\xe8\xf0</p>', 'latin1'),
      contains: ['Мир'],
    },
  },
  refused: { 'a page nested without end': { bytes: '<b><i>'.repeat(30_000), problems: ['too-large', 'empty'] } },
})

const svg = (content: string, before = '') => `${before}<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`
extractorConformance({
  fileType: 'svg',
  readable: {
    'a drawing': {
      bytes: svg(
        '<title>Plan</title><desc>of a <b>house</b></desc><style>x</style><text>Door<tspan>left</tspan></text>',
      ),
      title: 'Plan',
      contains: ['Plan', 'of a house', 'Doorleft'],
    },
  },
  refused: {
    'a drawing without text': { bytes: svg('<rect/>'), problems: ['empty'] },
    'text of an external entity': {
      bytes: svg('<text>&x;</text>', '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/hostname">]>'),
      problems: ['empty'],
    },
    'another XML': { bytes: '<a><text>b</text></a>', problems: ['wrong-type'] },
    'what is not closed': { bytes: '<svg><text>a', problems: ['corrupt'] },
  },
})

describe('tables of .csv', () => {
  const table = (rows: number) =>
    `id,name\n${Array.from({ length: rows }, (_, row) => `${row + 1},n${row % 3}\n`).join('')}`

  test('have sections of 100 rows, each with the header', async () => {
    const { markdown } = await extractBytes('csv', table(250))
    expect(markdown.match(/^## .*$/gm)).toEqual(['## Rows 1–100', '## Rows 101–200', '## Rows 201–250'])
    expect(markdown.match(/^\| id \| name \|$/gm)).toHaveLength(3)
    expect(markdown).toContain('\n| 250 | n0 |')
  })

  test('are told of by statistics when they are long', async () => {
    const { markdown, warnings } = await extractBytes('csv', table(6000))
    expect(markdown).toContain('6000 rows')
    expect(markdown).toContain('| 100 | n0 |')
    expect(markdown).not.toContain('| 5000 |')
    expect(warnings).toEqual([
      'The table has 6000 rows: its page has statistics and the first 100; search finds all of them.',
    ])
  })

  test('that are long have each row for search, after what becomes pages', async () => {
    const { markdown, searchOnlyFrom } = await extractBytes('csv', table(6000))
    const lines = markdown.split('\n')
    expect(lines[(searchOnlyFrom ?? 0) - 1]).toBe('## rows 101–6000')
    const searched = lines.slice(searchOnlyFrom).filter((line) => line !== '')
    expect(searched).toEqual(Array.from({ length: 5900 }, (_, at) => `${at + 101}; n${(at + 100) % 3}`))
  })

  test('that are too long to be searched are cut, and that is told', async () => {
    const row = (at: number) => `${at},${'Zeile für Zeile '.repeat(60)}\n`
    const bytes = `id,text\n${Array.from({ length: 25_000 }, (_, at) => row(at + 1)).join('')}`
    const { markdown, warnings } = await extractBytes('csv', bytes)
    const [, last] = /; search finds the first (\d+), the others were left out\.$/.exec(warnings[0] ?? '') ?? []
    expect(Number(last)).toBeGreaterThan(10_000)
    expect(markdown.split('\n').at(-1)).toMatch(new RegExp(`^${last}; Zeile`))
  })

  test('columns beyond those of a table are for search alone, and told of', async () => {
    const row = (name: string) => [name, ...Array.from({ length: 257 }, (_, at) => `${name}${at}`)].join(',')
    const { markdown, searchOnlyFrom = 0, warnings } = await extractBytes('csv', `${row('h')}\n${row('a')}\n`)
    const lines = markdown.split('\n')
    expect(lines.slice(0, searchOnlyFrom).join('\n')).not.toContain('a256')
    expect(lines.slice(searchOnlyFrom - 1)).toEqual([
      '## The columns beyond the first 256',
      '',
      'h; h255; h256',
      'a; a255; a256',
    ])
    expect(warnings).toEqual(['The columns beyond the first 256 are on no page: search finds them.'])
  })

  test('get names for columns that have none, and keep rows of other lengths', async () => {
    const { markdown, warnings } = await extractBytes('csv', '1,2\n3,4,5\n6\n')
    expect(markdown).toBe('| Column 1 | Column 2 |  |\n| --- | --- | --- |\n| 1 | 2 |  |\n| 3 | 4 | 5 |\n| 6 |  |  |')
    expect(warnings).toEqual(['Not all rows have as many values as the first.'])
  })
})

describe('of .md', () => {
  test('superscripts of HTML are kept, but not in code', async () => {
    const { markdown } = await extractBytes(
      'md',
      '10<sup>6</sup>, CO<SUB>2</SUB>, 1<sup>st</sup>, x<sup>a*b</sup> `y<sup>2</sup>`\n',
    )
    expect(markdown.trim()).toBe('10⁶, CO₂, 1st, x^(a*b) `y<sup>2</sup>`')
  })

  test('tables of HTML become tables, comments over lines go', async () => {
    const { markdown } = await extractBytes('md', 'a <!-- b\nc --> d\n\n<table>\n<tr><th>e<th>f\n</table>\n')
    expect(markdown.replace(/\n+/g, '\n')).toBe('a  d\n| e | f |\n| - | - |')
  })
})
