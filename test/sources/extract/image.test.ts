import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { extractImage } from '../../../src/sources/extract/image/image.ts'
import { imageHeader } from '../../../src/sources/extract/image/image-header.ts'
import { layoutMarkdown } from '../../../src/sources/extract/image/ocr-layout.ts'

/*
 * The pictures `notice.*` show one page, which PDFium has painted from a PDF; jimp has written them as PNG, JPEG and GIF, and
 * libwebp as WebP. `notice-turned.jpg` is stored on its side, with orientation 6 in its EXIF; `notice-transparent.png` is black
 * on nothing.
 */
const fixtures = join(import.meta.dirname, 'fixtures')
const sentence = 'Every crate is weighed twice before it is stored.'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'image-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const extract = (file: string) =>
  extractImage({ file, filename: 'picture', fileType: 'png', transcriber: undefined }, () => {})

async function extractBytes(bytes: Buffer) {
  const file = join(folder, 'picture')
  await writeFile(file, bytes)
  return extract(file)
}

test.for(['notice.png', 'notice.jpg', 'notice.gif', 'notice.webp', 'notice-turned.jpg', 'notice-transparent.png'])(
  'reads the text of %s without a network',
  async (name) => {
    const fetch = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no network'))
    const { markdown, warnings } = await extract(join(fixtures, name))
    expect(markdown).toContain('## The harbour of Lisbon')
    expect(markdown).toContain(sentence)
    expect(warnings.join()).toContain('recognised')
    expect(fetch).not.toHaveBeenCalled()
    fetch.mockRestore()
  },
)

test('a language whose data is not installed makes a curator decide; English takes its place', async () => {
  const file = join(fixtures, 'notice.png')
  const input = { file, filename: 'picture', fileType: 'png', transcriber: undefined }
  const { markdown, doubts, recognised } = await extractImage({ ...input, ocrLanguages: ['xho', 'zza'] }, () => {})
  expect(markdown).toContain(sentence)
  expect(recognised?.languages).toEqual(['xho', 'zza'])
  expect(doubts).toEqual(['Print was recognised as English: the data for Xhosa, Zaza is not installed.'])
})

test('a picture without text is empty', async () => {
  const blank = PNG.sync.write(
    Object.assign(new PNG({ width: 60, height: 40 }), { data: Buffer.alloc(60 * 40 * 4, 255) }),
  )
  await expect(extractBytes(blank)).rejects.toMatchObject({ problem: 'empty' })
})

test('what is no picture is of the wrong type', async () => {
  await expect(extractBytes(Buffer.from('<html><p>Hello</p></html>'))).rejects.toMatchObject({ problem: 'wrong-type' })
  await expect(extractBytes(Buffer.alloc(0))).rejects.toMatchObject({ problem: 'wrong-type' })
})

test.for(['notice.png', 'notice.jpg', 'notice.gif', 'notice.webp'])('half of %s does not crash it', async (name) => {
  const bytes = await readFile(join(fixtures, name))
  const outcome = await extractBytes(bytes.subarray(0, bytes.length / 2)).catch((error: unknown) => error)
  expect(outcome).toEqual(
    expect.toSatisfy(
      (value) => value.problem === 'corrupt' || value.problem === 'empty' || value.markdown !== undefined,
    ),
  )
})

test('a picture whose header tells of too many pixels is not decoded', async () => {
  const bytes = await readFile(join(fixtures, 'notice.png'))
  bytes.writeUInt32BE(100_000, 16)
  bytes.writeUInt32BE(100_000, 20)
  await expect(extractBytes(bytes)).rejects.toMatchObject({ problem: 'too-large' })
})

test('headers tell type, size and orientation', async () => {
  const header = async (name: string) => imageHeader(await readFile(join(fixtures, name)))
  expect(await header('notice.png')).toMatchObject({ type: 'png', width: 760, height: 250, orientation: 1 })
  expect(await header('notice.gif')).toMatchObject({ type: 'gif', width: 760, height: 250 })
  expect(await header('notice.webp')).toMatchObject({ type: 'webp', width: 760, height: 250 })
  expect(await header('notice.jpg')).toMatchObject({ type: 'jpeg', width: 760, height: 250, orientation: 1 })
  expect(await header('notice-turned.jpg')).toMatchObject({ type: 'jpeg', orientation: 6 })
})

test('any beginning of a picture has a header or none', async () => {
  for (const name of ['notice.png', 'notice-turned.jpg', 'notice.gif', 'notice.webp']) {
    const bytes = await readFile(join(fixtures, name))
    for (let length = 0; length < 200; length++) expect(() => imageHeader(bytes.subarray(0, length))).not.toThrow()
  }
})

/** The words of a line that is set in letters of 10 by 6. */
function words(line: string, x: number, y: number) {
  return Array.from(line.matchAll(/\S+/g), ({ 0: text, index }) => ({
    text,
    x: x + index * 6,
    y,
    width: text.length * 6,
    height: 10,
  }))
}

test('recognised words are read by columns, below what stands above both', () => {
  const column = (name: string, x: number) =>
    Array.from({ length: 8 }, (_, at) => words(`${name} column has its line ${at}`, x, 40 + at * 14)).flat()
  const above = words('This line of the page stands above both of the columns', 20, 10)
  const markdown = layoutMarkdown([...above, ...column('First', 0), ...column('Other', 190)])
  expect(markdown.indexOf('above both')).toBeLessThan(markdown.indexOf('First column has its line 0'))
  expect(markdown.indexOf('First column has its line 7')).toBeLessThan(markdown.indexOf('Other column has its line 0'))
})

test('words that are read from the right are in that order, and those of scripts without blanks have none', () => {
  expect(layoutMarkdown(words('בטון בנוי גשר', 0, 0))).toBe('גשר בנוי בטון')
  expect(layoutMarkdown(words('橋 は PC コン クリート 製', 0, 0))).toBe('橋は PC コンクリート製')
  expect(layoutMarkdown([...words('承認 は 上', 0, 0), ...words('司 が 行う 。', 0, 14)])).toBe('承認は上司が行う。')
  // The recogniser puts neighbours into one box.
  const box = (text: string, x: number) => ({ text, x, y: 0, width: text.length * 6, height: 10 })
  const row = [box('תחילתה. לפני', 0), box('שבועיים', 90), box('Microsoft Office', 150), box('לפחות לחופשה', 260)]
  expect(layoutMarkdown(row)).toBe('לחופשה לפחות Microsoft Office שבועיים לפני תחילתה.')
  // The last line of a paragraph is short on the left.
  const lines = [
    ...words('יש להגיש בקשה לחופשה', 0, 0),
    ...words('על ידי המנהל הישיר של', 0, 14),
    ...words('בבוקר.', 90, 28),
  ]
  expect(layoutMarkdown(lines)).not.toContain('\n')
})

test('blanks that are recognised as hyphens are blanks, and a line of them above text is a heading', () => {
  const lines = [
    'The crates are weighed before they are stored, and again when they are taken',
    'from the stores of the harbour, by whoever is at the quay on that day.',
    'The-Weights-of-Crates--',
    'A crate that is full of salt weighs as much as two that are full of the wool-',
    'len cloth, and half of one that is full of copper.',
    'Conclusions-',
    'The weights that were found are those that had been told to the masters of the',
    'harbour, as far as state-of-the-art scales can show them.',
  ]
  expect(layoutMarkdown(lines.flatMap((line, at) => words(line, 0, at * 14))).split('\n\n')).toEqual([
    `${lines[0]} ${lines[1]}`,
    '## The Weights of Crates',
    `${lines[3]?.slice(0, -1)}${lines[4]}`,
    '## Conclusions',
    `${lines[6]} ${lines[7]}`,
  ])
})

test('rows of a table are not taken for columns', () => {
  const row = (name: string, at: number) => [...words(name, 0, at * 14), ...words(`${at} kg`, 300, at * 14)]
  const markdown = layoutMarkdown(['Copper', 'Salt', 'Wool', 'Tin', 'Wine', 'Oil', 'Cork'].flatMap(row))
  expect(markdown).toContain('Salt 1 kg')
})
