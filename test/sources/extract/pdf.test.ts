import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { extractPdf } from '../../../src/sources/extract/pdf.ts'
import type { OnProgress } from '../../../src/sources/extracted.ts'
import { extractorConformance } from './conformance.ts'
import { type PdfOptions, type PdfPage, type PdfText, writePdf } from './support/pdf-writer.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pdf-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function extractBytes(bytes: Buffer, onProgress: OnProgress = () => {}) {
  const file = join(folder, 'document')
  await writeFile(file, bytes)
  return extractPdf({ file, filename: 'document.pdf', fileType: 'pdf', transcriber: undefined }, onProgress)
}

const extract = (pages: readonly PdfPage[], options?: PdfOptions) => extractBytes(writePdf(pages, options))

/** Lines one below the other. */
function block(lines: readonly string[], x: number, y: number, leading = 14): PdfText[] {
  return lines.map((text, at) => ({ text, x, y: y - at * leading }))
}

const body = (topic: string) =>
  block(
    [
      `The ${topic} is described here in some detail, so that whoever reads it later`,
      'can find out what was decided, who decided it, and what had been tried before.',
      'Nothing of it is a surprise to the people who have worked on it for years.',
    ],
    60,
    700,
  )

test('headings have the level of their size, and the first is the title', async () => {
  const { title, markdown } = await extract([
    {
      texts: [
        { text: 'Harbour rules', x: 60, y: 780, size: 24, bold: true },
        { text: 'Loading', x: 60, y: 730, size: 16, bold: true },
        ...body('loading'),
        { text: 'Storing', x: 60, y: 620, size: 16, bold: true },
        ...block(['Crates are stored in rows of twelve, heavy ones below and light ones above them.'], 60, 590),
      ],
    },
  ])
  expect(title).toBe('Harbour rules')
  expect(markdown).toMatch(/^# Harbour rules\n/)
  expect(markdown).toMatch(/^## Loading$/m)
  expect(markdown).toMatch(/^## Storing$/m)
})

test('letters that stand apart are joined to words, by the gaps between them', async () => {
  const apart = (words: string, y: number, step: number) =>
    [...words].flatMap((text, at) => (text === ' ' ? [] : [{ text, x: 60 + at * step, y, size: 20 }]))
  const typed = { text: 'I n t r o d u c t i o n', x: 60, y: 730, size: 16 }
  const alphabet = { text: 'A B C D E F', x: 60, y: 400, size: 11 }
  const { title, markdown } = await extract([
    { texts: [...apart('HARBOUR RULES', 780, 30), typed, alphabet, ...body('loading')] },
  ])
  expect(title).toBe('HARBOUR RULES')
  expect(markdown).toMatch(/Introduction/)
  expect(markdown).toMatch(/A B C D E F/)
})

test('a page whose letters stand apart is read as words', async () => {
  const lines = [
    'The clerk keeps the ledger in the archive',
    'room and checks it each morning before',
    'a fee of 10 euros is due for each day.',
  ]
  // Widths of Helvetica at 11 points, about.
  const widthOf = (letter: string) => (/[ijltfr.,\s]/.test(letter) ? 2.8 : /[mw]/.test(letter) ? 8.6 : 6)
  const placed = lines.flatMap((line, row) => {
    let x = 60
    return [...line].flatMap((text) => {
      const at = x
      x += widthOf(text) + (text === ' ' ? 8 : 4)
      return text === ' ' ? [] : [{ text, x: at, y: 700 - row * 16, size: 11 }]
    })
  })
  const typed = lines.map((line, row) => ({ text: [...line].join(' '), x: 60, y: 700 - row * 16, size: 9 }))
  for (const texts of [placed, typed]) expect((await extract([{ texts }])).markdown).toBe(lines.join(' '))
})

test('what is only printed large is text', async () => {
  const { markdown } = await extract([
    {
      texts: [
        { text: 'Loading', x: 60, y: 730, size: 16, bold: true },
        ...body('loading'),
        { text: 'and motivation to load', x: 60, y: 620, size: 16, bold: true },
        ...block(['Crates are stored in rows of twelve, heavy ones below and light ones above them.'], 60, 590),
        { text: 'Storing', x: 60, y: 540, size: 16, bold: true },
        ...block(['What is stored is weighed twice, and by two people, before it is written down.'], 60, 510),
      ],
    },
    { texts: [{ text: 'Harbour rules', x: 60, y: 780, size: 24, bold: true }, ...body('harbour')] },
  ])
  expect(markdown).toMatch(/^and motivation to load$/m)
  expect(markdown.match(/^#+ .*$/gm)?.map((line) => line.replace(/^#+ /, ''))).toEqual([
    'Loading',
    'Storing',
    'Harbour rules',
  ])
})

test.each([3, 20])('two columns of %i lines are read one after the other', async (length) => {
  const column = (name: string) =>
    Array.from({ length }, (_, at) => `${name} column, line number ${at + 1} of its text`)
  const { markdown } = await extract([
    { texts: [...block(column('Left'), 50, 760), ...block(column('Right'), 320, 760)] },
  ])
  expect(markdown.lastIndexOf('Left column')).toBeLessThan(markdown.indexOf('Right column'))
})

test.each([90, 180, 270] as const)('a page that is turned by %i degrees is read along its lines', async (rotate) => {
  const lines = Array.from({ length: 20 }, (_, at) => `Line ${at} says that the clerk keeps a ledger`)
  const texts = lines.map((text, at) => ({ text, x: 60, y: 780 - 20 * at }))
  const { markdown } = await extract([{ texts, rotate }])
  expect(markdown.replace(/\s+/g, ' ')).toContain(lines.join(' '))
})

test('words that lines break are whole', async () => {
  const { markdown } = await extract([
    {
      texts: block(
        [
          'Everything that arrives in the harbour has to be inspec-',
          'ted before it leaves again, without excep-',
          'tion.',
        ],
        60,
        700,
      ),
    },
  ])
  expect(markdown).toContain('inspected before')
  expect(markdown).toContain('exception.')
})

test('compound words keep the hyphen at which a line breaks them', async () => {
  const lines = [
    'The long-term plan of the harbour is well known to the people of the town. The long-',
    'term plan says that goods are inspected when they come. Cranes are inspec-',
    'ted as well, by a person who is well-',
    'known to all.',
  ]
  const { markdown } = await extract([{ texts: block(lines, 60, 700) }])
  expect(markdown).toContain('The long-term plan says')
  expect(markdown).toContain('Cranes are inspected as well')
  expect(markdown).toContain('who is well-known to all')
})

test('what was written into a form is text', async () => {
  const { markdown } = await extract([
    { texts: body('permit'), field: { name: 'Holder', value: 'Ann *Miller*' } },
    { texts: body('crane'), field: { name: 'Empty', value: '' } },
  ])
  expect(markdown).toContain('- Holder: Ann \\*Miller\\*')
  expect(markdown).not.toContain('Empty')
})

test('a ruled table is a table', async () => {
  const rows = [
    ['Good', 'Weight', 'Price'],
    ['Copper', '120', '4.50'],
    ['Salt', '80', '0.90'],
    ['Wool', '35', '2.10'],
  ]
  const texts = rows.flatMap((row, y) => row.map((text, x) => ({ text, x: 65 + x * 120, y: 685 - y * 24 })))
  const rules = [
    ...[0, 1, 2, 3, 4].map((y) => [60, 700 - y * 24, 420, 700 - y * 24] as const),
    ...[0, 1, 2, 3].map((x) => [60 + x * 120, 700, 60 + x * 120, 604] as const),
  ]
  const { markdown } = await extract([{ texts, rules }])
  expect(markdown).toMatch(/\| *Good *\| *Weight *\| *Price *\|/)
  expect(markdown).toMatch(/\| *Salt *\| *80 *\| *0\.90 *\|/)
})

const chapter = (name: string, number: number): PdfPage => ({
  texts: [
    { text: 'Yearbook of the Harbour Board', x: 60, y: 810, size: 9 },
    ...body(name),
    { text: `Printed in Lisbon - ${number}`, x: 60, y: 40, size: 9 },
    { text: String(number), x: 300, y: 25, size: 9 },
  ],
})

test('running headers, footers and page numbers go, and each page has an anchor where its text begins', async () => {
  const names = ['quay', 'crane', 'ledger', 'lighthouse']
  const { markdown, anchors } = await extract(names.map((name, at) => chapter(name, at + 1)))
  expect(markdown).not.toContain('Yearbook')
  expect(markdown).not.toContain('Printed')
  expect(markdown).not.toMatch(/^\d+$/m)
  expect(anchors.map(({ page }) => page)).toEqual([1, 2, 3, 4])
  const lines = markdown.split('\n')
  for (const [at, { line }] of anchors.entries()) expect(lines[line - 1]).toContain(`The ${names[at]} is described`)
})

test('what only looks like a header stays on a single page', async () => {
  const { markdown } = await extract([chapter('quay', 7)])
  expect(markdown).toContain('Yearbook of the Harbour Board')
})

test('bookmarks are headings of their depth, where their line is or else on top of their page', async () => {
  const { title, markdown } = await extract([chapter('quay', 1), chapter('crane', 2), chapter('ledger', 3)], {
    title: 'Microsoft Word - yearbook.docx',
    bookmarks: [
      { title: 'The places', page: 1, below: [{ title: 'Of cranes', page: 2 }] },
      { title: 'The papers', page: 3 },
    ],
  })
  expect(title).toBe('yearbook')
  expect(markdown.match(/^#.*$/gm)).toEqual(['# The places', '## Of cranes', '# The papers'])
  expect(markdown.indexOf('## Of cranes')).toBeLessThan(markdown.indexOf('The crane is described'))
})

test('a bookmark makes its own line a heading, once', async () => {
  const page = (name: string): PdfPage => ({ texts: [...block([`1. ${name}`], 60, 740), ...body(name.toLowerCase())] })
  const { markdown } = await extract([page('Quays'), page('Cranes')], {
    bookmarks: [
      { title: 'Quays', page: 1 },
      { title: 'Cranes', page: 2 },
    ],
  })
  expect(markdown.match(/Quays/g)).toHaveLength(1)
  expect(markdown.match(/^#.*$/gm)).toEqual([expect.stringContaining('Quays'), expect.stringContaining('Cranes')])
})

test('links to the web are kept', async () => {
  const { markdown } = await extract([
    {
      texts: [{ text: 'The tide table', x: 60, y: 700 }],
      link: { url: 'https://example.com/tides', rect: [55, 695, 140, 712] },
    },
  ])
  expect(markdown).toContain('[The tide table](https://example.com/tides)')
})

test('signs of Markdown in the text are text', async () => {
  const { markdown } = await extract([
    { texts: [...body('quay'), { text: 'See [[Secret page]] for more of it.', x: 60, y: 600 }] },
  ])
  expect(markdown).not.toMatch(/(?<!\\)\[\[/)
})

/** A scan of `notice.png`, which image.test.ts describes. */
async function scan(): Promise<PdfPage> {
  const { width, height, data } = PNG.sync.read(await readFile(join(import.meta.dirname, 'fixtures', 'notice.png')))
  const [across, down] = [width, Math.round((width * 842) / 595)]
  const page = Buffer.alloc(across * down, 255)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) page[(y + 60) * across + x] = data[(y * width + x) * 4] ?? 255
  return { picture: { width: across, height: down, data: page } }
}

test('scanned pages are recognised among others, without a network', async () => {
  const fetch = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no network'))
  const { markdown, anchors, warnings, recognised } = await extract([
    { texts: body('quay') },
    await scan(),
    { texts: body('crane') },
  ])
  expect(markdown).toContain('Every crate is weighed twice before it is stored.')
  expect(markdown.indexOf('The quay is')).toBeLessThan(markdown.indexOf('Every crate'))
  expect(markdown.indexOf('Every crate')).toBeLessThan(markdown.indexOf('The crane is'))
  expect(anchors.map(({ page }) => page)).toEqual([1, 2, 3])
  expect(warnings).toEqual([expect.stringMatching(/^Recognised as English print.*: page 2\.$/)])
  expect(recognised?.words).toBeGreaterThan(20)
  expect(recognised?.confidence).toBeGreaterThan(0.85)
  expect(fetch).not.toHaveBeenCalled()
  fetch.mockRestore()
})

test('a scan that a form object draws is recognised, upside down too', async () => {
  const page = { ...(await scan()), isInForm: true }
  const { markdown, anchors } = await extract([
    { texts: body('quay') },
    { ...page, texts: [{ text: '2', x: 300, y: 20 }] },
    { ...page, rotate: 180 },
  ])
  expect(markdown.match(/Every crate is weighed twice before it is stored\./g)).toHaveLength(2)
  expect(anchors.map(({ page: number }) => number)).toEqual([1, 2, 3])
})

test('pages without text are named', async () => {
  const picture = { width: 10, height: 14, data: Buffer.alloc(140, 200) }
  const { warnings } = await extract([{ texts: body('quay') }, {}, { picture }, {}, {}])
  expect(warnings).toEqual(['Nothing was recognised on pages without text: page 3.', 'Blank: pages 2, 4–5.'])
})

test('when the time is up, what was read is kept, and what was not is named', async () => {
  const cpu = vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 50_000_000, system: 0 })
  const pages: PdfPage[] = Array.from({ length: 130 }, () => ({ texts: [{ text: 'A line of text', x: 60, y: 700 }] }))
  const { anchors, warnings } = await extract(pages.with(4, await scan()))
  cpu.mockRestore()
  expect(anchors).toHaveLength(99)
  expect(warnings).toEqual([
    'Not read, since they are damaged or take too long: pages 101–130.',
    'Not recognised, since that would take too long: split the document: page 5.',
  ])
})

test('what all pages repeat is their text where they have no other', async () => {
  const { markdown } = await extract(Array.from({ length: 4 }, () => ({ texts: body('quay').slice(0, 2) })))
  expect(markdown.match(/The quay is described/g)).toHaveLength(4)
})

test('of scans it tells how many pages have their text', async () => {
  const told: string[] = []
  await extractBytes(writePdf([await scan(), { texts: body('quay') }, await scan()]), (done, total) => {
    told.push(`${done} of ${total}`)
  })
  expect(told).toEqual(['1 of 3', '1 of 3', '2 of 3'])
})

test('a protected PDF says so', async () => {
  await expect(extract([chapter('quay', 1)], { password: 'secret' })).rejects.toMatchObject({ problem: 'encrypted' })
})

test('pages that are blank, or pictures of nothing, are empty', async () => {
  await expect(extract([{}, {}])).rejects.toMatchObject({ problem: 'empty' })
  const picture = { width: 10, height: 14, data: Buffer.alloc(140, 255) }
  await expect(extract([{ picture }])).rejects.toMatchObject({ problem: 'empty' })
})

test('a PDF whose table of objects is wrong is read all the same', async () => {
  const bytes = Buffer.from(
    writePdf([chapter('quay', 1)])
      .toString('latin1')
      .replace(/^\d{10} 00000 n/gm, '0000000007 00000 n'),
    'latin1',
  )
  const { markdown } = await extractBytes(bytes)
  expect(markdown).toContain('The quay is described')
})

test('bytes before the header do no harm', async () => {
  const { markdown } = await extractBytes(Buffer.concat([Buffer.from('GIF89a\n'), writePdf([chapter('quay', 1)])]))
  expect(markdown).toContain('The quay is described')
})

test('what is no PDF is of the wrong type, and ruins are corrupt', async () => {
  await expect(extractBytes(Buffer.from('<html>Hello</html>'))).rejects.toMatchObject({ problem: 'wrong-type' })
  await expect(extractBytes(Buffer.from('%PDF-1.7\nnothing at all'))).rejects.toMatchObject({ problem: 'corrupt' })
})

test('more than 2,000 pages are too many', async () => {
  await expect(extract(Array.from({ length: 2001 }, () => ({})))).rejects.toMatchObject({ problem: 'too-large' })
})

const rules: PdfPage = { texts: [{ text: 'Harbour rules', x: 60, y: 780, size: 24, bold: true }, ...body('loading')] }

extractorConformance({
  fileType: 'pdf',
  readable: {
    'pages of text': {
      bytes: writePdf([rules, chapter('quay', 2), chapter('crane', 3)]),
      title: 'Harbour rules',
      contains: ['# Harbour rules', 'The loading is described', 'The quay is described', 'The crane is described'],
    },
    'links and signs of other languages': {
      bytes: writePdf([
        {
          texts: [
            ...body('quay'),
            { text: '<script>alert(1)</script> ![x](y.png) [z](javascript:alert(1))', x: 60, y: 600 },
          ],
          link: { url: 'javascript:alert(1)', rect: [55, 695, 400, 712] },
        },
      ]),
      contains: ['The quay is described', 'alert'],
    },
  },
  refused: {
    'a protected one': { bytes: writePdf([rules], { password: 'secret' }), problems: ['encrypted'] },
    'one without text': { bytes: writePdf([{}]), problems: ['empty'] },
  },
})
