import { describe, expect, test } from 'vitest'
import { isGenericName, isPlaceholder } from '../../../src/sources/compile/titles/generic-names.ts'
import { compile, paragraph } from './documents.ts'

const titleOf = async (markdown: string, given: Parameters<typeof compile>[1]) =>
  (await compile(markdown, given))[0]?.title
const text = 'Some words about the harbour, which are no title.'

describe('the title of a document', () => {
  test.each([
    ['as it calls itself', 'Harbour rules', 'a.pdf', `${text}`, 'Harbour rules'],
    ['not the name of its file', 'harbour_rules.docx', 'x.pdf', `# The harbour\n\n${text}`, 'The harbour'],
    ['not what a program printed', 'Microsoft Word - harbour_rules_v2.doc', 'x.pdf', text, 'harbour rules v2'],
    ['but a real name with a hyphen', 'COVID-19', 'x.pdf', `# The harbour\n\n${text}`, 'COVID-19'],
    ...[
      'Adobe Photoshop PDF',
      '(anonymous)',
      'untitled',
      'Presentation1',
      'PowerPoint Presentation',
      'Document2',
      'Chapter 3',
      'Layout 1',
      'Diapo 1',
      'Untitled spreadsheet',
      'Blank Page',
      'Abstract-ICML (7)',
      'Grand total: 4,711.00',
      'Date Description Qty Amount',
      'Ada Lovelace, Charles Babbage',
    ].map((own) => [`not ${own}`, own, 'harbour-rules_2026.pdf', text, 'harbour-rules 2026']),
    ['a title in other letters', '港の規則', 'x.docx', text, '港の規則'],
    [
      'what stands below the name of a sheet',
      undefined,
      'x.xlsx',
      '## Sheet1\n\nBerths by month\n\n| a | b |\n| - | - |\n| c | d |',
      'Berths by month',
    ],
    [
      'the file, not the name of a sheet',
      undefined,
      'berths-by-month.xlsx',
      '## Sheet1\n\n| a | b |\n| - | - |\n| c | d |',
      'berths by month',
    ],
    ['the file, not a number of a page', 'Page 1', 'berths.pptx', '## Page 1\n\n## Page 2', 'berths'],
    [
      'what stands below the label of a chapter',
      undefined,
      'x.md',
      `# Chapter 3\n\n## The Voyage\n\n${text}`,
      'The Voyage',
    ],
    [
      'the lines that a printed page opens with',
      undefined,
      'scan1.png',
      `## Rules of the old\n\n## harbour of Bremen\n\n${text}\n\n## Berths\n\n${text}`,
      'Rules of the old harbour of Bremen',
    ],
    [
      'not who wrote it',
      undefined,
      'scan1.pdf',
      `# Rules of the harbour\n\n# Ada Lovelace¹, Charles Babbage² and Jan de Vries\n\n${text}\n\n# Berths\n\n${text}`,
      'Rules of the harbour',
    ],
    [
      'but what only looks like people',
      undefined,
      'x.docx',
      `Rules and Fees, Bremen\n\n${text}`,
      'Rules and Fees, Bremen',
    ],
    ['the first line', undefined, 'x.docx', `Rules of the harbour\n\n${text}`, 'Rules of the harbour'],
    ['not a first sentence', undefined, 'x y.docx', text, 'x y'],
    ['not a list or an address', undefined, 'x.docx', `- Rules of the harbour\n\n${text}`, 'x'],
    [
      'the file, separators as blanks',
      undefined,
      'harbour-rules.final%20version.pdf',
      text,
      'harbour-rules.final version',
    ],
    ['the file with a date', undefined, 'minutes-2026-03-01.pdf', text, 'minutes 2026-03-01'],
  ] as [string, string | undefined, string, string, string][])(
    'is %s',
    async (_, title, filename, markdown, expected) => {
      expect(await titleOf(markdown, { ...(title === undefined ? {} : { title }), filename })).toBe(expected)
    },
  )
})

/** Pages with a head, a foot and a text that goes on. */
const pages = (count: number, head: (page: number) => string, foot: (page: number) => string = () => '') => {
  const lines: string[] = []
  const anchors = Array.from({ length: count }, (_, at) => {
    const anchor = { line: lines.length + 1, page: at + 1 }
    lines.push(head(at + 1), '', paragraph(`${at + 1}th`, 1500), '', paragraph(`other ${at + 1}th`, 1500), '')
    if (foot(at + 1) !== '') lines.push(foot(at + 1), '')
    return anchor
  })
  return { markdown: lines.join('\n'), anchors }
}

describe('running heads and feet', () => {
  test.each([
    ['on every page', (page: number) => `## Harbour rules of 1999 ${page + 450}`, () => ''],
    [
      'left and right',
      (page: number) => (page % 2 ? '## Harbour rules' : '## The Voyage'),
      (page: number) => `- ${page} -`,
    ],
    [
      'with Roman numbers',
      () => 'Harbour rules',
      (page: number) => ['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii'][page - 1] ?? '',
    ],
  ])('are in no title and no text: %s', async (_, head, foot) => {
    const { markdown, anchors } = pages(8, head, foot)
    const compiled = await compile(markdown, { anchors, filename: 'scan.pdf', title: 'Harbour rules' })
    const all = compiled
      .map(({ title, content }) => `${title}\n${content}`)
      .join('\n')
      .replaceAll('[[Harbour rules', '')
    expect(compiled.length).toBeGreaterThan(1)
    expect(all.match(/Harbour rules of.*|The Voyage|^- \d+ -$|^[ivx]+$|^## Harbour.*/gm)).toBeNull()
    expect(new Set(all.match(/The \dth desk/g)).size).toBe(8)
  })

  test('are none where headings, numbers or rows only look like them', async () => {
    const { markdown, anchors } = pages(
      8,
      (page) => `## Exercise ${page * page}`,
      (page) => String(page * 7 + (page % 3)),
    )
    const all = (await compile(markdown, { anchors })).map(({ title, content }) => `${title}\n${content}`).join('\n')
    expect(new Set(all.match(/Exercise \d+/g)).size).toBe(8)
    expect(all.match(/^8$/m)).not.toBeNull()
    const rows = pages(4, () => '| a | b |\n| - | - |\n| c | d |')
    expect(
      (await compile(rows.markdown, { anchors: rows.anchors })).map(({ content }) => content).join('\n'),
    ).toContain('| c | d |')
  })
})

test('parts are not called by labels alone', async () => {
  const section = (heading: string, first = '') => `## ${heading}\n\n${first}${paragraph(heading, 3000)}`
  const markdown = [
    section('Chapter 1', 'The Voyage\n\n'),
    section('Slide 2'),
    section('Results'),
    section('The Return'),
  ].join('\n\n')
  const compiled = await compile(markdown, { title: 'Harbour' })
  expect(compiled.map(({ title }) => title)).toEqual([
    'Harbour',
    'The Voyage',
    'Slide 2 – Harbour',
    'Results – Harbour',
    'The Return',
  ])
})

test.each([
  'Page 1',
  'List',
  'Hello',
  'Introduction',
  'Test document',
  'A Slide with a Table',
  'Heading 2',
  'Einleitung',
  'Chapter IV',
  '42',
])('the name %s is generic', async (name) => {
  expect(isGenericName(name)).toBe(true)
  const [page] = await compile(`We saw the ${name} there, of Bremen harbour.`, { names: [{ name, title: name }] })
  expect(page?.content).not.toContain('[[')
})

test.each(['Refund', 'Bremen harbour', 'Page layout engine', 'C++', 'OpenID', '規則'])(
  'the name %s is specific',
  (name) => {
    expect(isGenericName(name)).toBe(false)
    expect(isPlaceholder(name)).toBe(false)
  },
)
