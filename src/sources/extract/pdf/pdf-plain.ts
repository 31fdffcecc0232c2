import { readFile } from 'node:fs/promises'
import { type Anchor, type Extraction, ExtractionError, type Extractor } from '../../extracted.ts'
import { plainLine } from '../markdown/escape-markdown.ts'
import { withoutFalseHeadings } from './pdf-false-headings.ts'
import { type Bookmark, pdfFacts, plainPages } from './pdf-outline.ts'
import { type PdfPage, plainParagraphs } from './pdf-page.ts'

const heading = /^(#{1,6})\s+(.*)$/

/** Maximum lines of a header or footer. */
const edgeLines = 3
const pageNumber = /^(?:page\s+)?[-–—\s]*(?:\d{1,4}|[ivxlc]{1,7})[-–—\s]*(?:(?:of|\/)\s*\d{1,4})?$/i

export const maxPages = 2000

/** Returns the text of a PDF by PDF.js alone, for documents that crash the first reader. Loads no native code. */
export const extractPlainPdf: Extractor = async ({ file }) => secondReading(await readPdf(file))

/** Returns the bytes of a PDF from its header on, which other bytes may precede (ISO 32000-1, annex H). */
export async function readPdf(file: string): Promise<Buffer> {
  const bytes = await readFile(file)
  const start = bytes.subarray(0, 1024).indexOf('%PDF-')
  if (start === -1) throw new ExtractionError('wrong-type', 'The file is not a PDF.')
  return bytes.subarray(start)
}

/** Returns the plain text by PDF.js, for documents that the first reader cannot read. */
export async function secondReading(bytes: Buffer): Promise<Extraction> {
  const texts = await plainPages(bytes, maxPages).catch((cause: unknown) => {
    const isLocked = cause instanceof Error && cause.name === 'PasswordException'
    if (isLocked) throw new ExtractionError('encrypted', 'The PDF is protected by a password.', { cause })
    throw new ExtractionError('corrupt', 'The PDF is damaged and could not be read.', { cause })
  })
  const pages = texts.map((text, at) => ({ number: at + 1, lines: plainParagraphs(text).split('\n') }))
  if (!hasText(pages)) throw new ExtractionError('empty', 'No text was found in the PDF.')
  return assemble(bytes, pages, ['The PDF is damaged: its text was read without its layout.'])
}

export async function assemble(bytes: Buffer, read: readonly PdfPage[], warnings: string[]): Promise<Extraction> {
  const { title, bookmarks } = await pdfFacts(bytes)
  const pages = withBookmarks(withoutFalseHeadings(dropRunningLines(read)), bookmarks)
  const lines: string[] = []
  const anchors: Anchor[] = []
  for (const page of pages) {
    const text = page.lines
      .join('\n')
      .trim()
      .replace(/\n{3,}/g, '\n\n')
    if (text === '') continue
    anchors.push({ line: lines.length + 1, page: page.number })
    for (const line of text.split('\n')) lines.push(line)
    lines.push('')
  }
  const markdown = lines.join('\n').trimEnd()
  return { title: title ?? firstHeading(pages), markdown, anchors, warnings, shown: undefined }
}

export function hasText(pages: readonly PdfPage[]): boolean {
  return pages.some(({ lines }) => lines.some((line) => /[\p{L}\p{N}]/u.test(line)))
}

/**
 * Removes page numbers, and lines at page edges that most pages repeat, apart from their own number. If that would leave most pages empty,
 * the repeated lines are the text, and only page numbers are removed.
 */
function dropRunningLines(pages: readonly PdfPage[]): PdfPage[] {
  const running = runningLines(pages)
  const trimmed = pages.map((page) => trim(page, running))
  return 2 * filledPages(trimmed).length < filledPages(pages).length
    ? pages.map((page) => trim(page, new Set()))
    : trimmed
}

function trim({ number, lines }: PdfPage, running: ReadonlySet<string>): PdfPage {
  const isRunning = (line: string) => running.has(keyOf(line, number)) || plain(line) === String(number)
  const untilBottom = withoutTop(lines, isRunning).reverse()
  return { number, lines: withoutTop(untilBottom, isRunning).reverse() }
}

function withoutTop(lines: readonly string[], isRunning: (line: string) => boolean): string[] {
  let at = 0
  for (let dropped = 0; dropped <= edgeLines; dropped++) {
    while (lines[at] === '') at++
    const line = lines[at]
    if (dropped === edgeLines || line === undefined || !isRunning(line)) break
    at++
  }
  return lines.slice(at)
}

function filledPages(pages: readonly PdfPage[]): PdfPage[] {
  return pages.filter(({ lines }) => lines.some((line) => line !== ''))
}

function runningLines(pages: readonly PdfPage[]): Set<string> {
  const counts = new Map<string, number>()
  for (const { number, lines } of pages) {
    const filled = lines.filter((line) => line !== '')
    const edges = new Set(
      [...filled.slice(0, edgeLines), ...filled.slice(-edgeLines)].map((line) => keyOf(line, number)),
    )
    for (const key of edges) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const fewest = Math.max(3, filledPages(pages).length * 0.5)
  return new Set([...counts].filter(([, count]) => count >= fewest).map(([key]) => key))
}

function keyOf(line: string, number: number): string {
  const text = plain(line)
  if (pageNumber.test(text)) return '\0'
  return text.replace(new RegExp(`(?<!\\d)${number}(?!\\d)`), '\0')
}

function plain(line: string): string {
  return line
    .replace(/^#+\s+/, '')
    .replaceAll('\\', '')
    .trim()
}

/**
 * Turns bookmarks into headings of their depth: the line with the same text, else a new line at the top of the page. Headings without a
 * bookmark move below the level of the bookmark before them.
 */
function withBookmarks(pages: readonly PdfPage[], bookmarks: readonly Bookmark[]): PdfPage[] {
  // A single bookmark is mostly the name of a file.
  if (bookmarks.length < 2) return [...pages]
  const byPage = Map.groupBy(bookmarks, ({ page }) => page)
  let depth = 0
  return pages.map(({ number, lines }) => {
    const { added, levels } = place(lines, byPage.get(number) ?? [])
    const top = added.flatMap(({ title, depth: level }) => [`${marks(level)} ${plainLine(title)}`, ''])
    depth = added.at(-1)?.depth ?? depth
    const below = lines.map((line, at) => {
      const level = levels.get(at)
      const [, hashes = '', text = line] = heading.exec(line) ?? []
      if (level !== undefined) {
        depth = level
        return `${marks(level)} ${text}`
      }
      return hashes === '' ? line : `${marks(Math.max(hashes.length, depth + 1))} ${text}`
    })
    return { number, lines: [...top, ...below] }
  })
}

function firstHeading(pages: readonly PdfPage[]): string | undefined {
  for (const { lines } of pages) {
    for (const line of lines) {
      const [, , text] = heading.exec(line) ?? []
      if (text) return text.replace(/\\(?=[!-/:-@[-`{-~])/g, '')
    }
  }
  return undefined
}

function place(lines: readonly string[], bookmarks: readonly Bookmark[]) {
  const added: Bookmark[] = []
  const levels = new Map<number, number>()
  const keys = lines.map((line) => (isText(line) ? keysOf(line) : []))
  for (const bookmark of bookmarks) {
    const wanted = keysOf(bookmark.title)
    const at = keys.findIndex((found, line) => !levels.has(line) && found.some((key) => wanted.includes(key)))
    if (at === -1) added.push(bookmark)
    else levels.set(at, bookmark.depth)
  }
  return { added, levels }
}

function isText(line: string): boolean {
  return line !== '' && !/^(?:```|\||\s|[-*+] )/.test(line)
}

/** Returns the letters and digits of a line, with its page number and without. */
function keysOf(line: string): string[] {
  const text = line.replace(/^#+\s+/, '').toLowerCase()
  const bare = text.replace(/^(?:(?:chapter|section|part)\s+)?[\divxlc]+(?:\\?\.\d+)*\\?[.:)]?\s+/, '')
  return [text, bare].map((each) => each.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()).filter((key) => key !== '')
}

function marks(level: number): string {
  return '#'.repeat(Math.min(level, 6))
}
