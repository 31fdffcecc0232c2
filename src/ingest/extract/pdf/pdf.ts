import { readFile } from 'node:fs/promises'
import { LiteParse } from '@llamaindex/liteparse'
import type { Anchor, Extracted, Extractor, OnProgress } from '../../extracted.ts'
import { ExtractionError } from '../../extracted.ts'
import { orderDoubts, withLogicalOrder } from './pdf-bidi.ts'
import { timeBudget } from './pdf-budget.ts'
import { withoutFalseHeadings } from './pdf-false-headings.ts'
import { firstHeading, withBookmarks } from './pdf-headings.ts'
import { withCompoundHyphens } from './pdf-hyphens.ts'
import { pdfFacts, plainPages } from './pdf-outline.ts'
import { type Page, pageMarkdown, plainParagraphs } from './pdf-page.ts'
import { pageList } from './pdf-page-list.ts'
import { type ReadPage, readPage } from './pdf-read-page.ts'
import { dropRunningLines } from './pdf-running-lines.ts'
import { recogniseScans } from './pdf-scans.ts'

const maxPages = 2000
/** Pages that are in memory with the place of every piece of text at a time. */
const batchSize = 100

/**
 * The text of a PDF in reading order, page by page. Pages that are pictures are recognised; scripts, attachments and pictures
 * are ignored, and nothing is fetched.
 */
export const extractPdf: Extractor = async ({ file }, onProgress) => {
  const bytes = await readPdf(file)
  const reading = { isSpent: timeBudget(), onProgress }
  const parsed = await parsePages(bytes, reading)
  if (parsed === undefined) return secondReading(bytes)
  const ordered = await inLogicalOrder(bytes, withCompoundHyphens(parsed.pages))
  const { texts, recognised, warnings } = await recogniseScans(bytes, ordered.pages, reading)
  const doubts = [...ordered.doubts, ...garbledDoubts(ordered.pages.filter(({ number }) => !texts.has(number)))]
  const pages = ordered.pages.map((page) => ({
    number: page.number,
    lines: [texts.get(page.number) ?? unrecognised(page), ...(page.fields.length > 0 ? ['', ...page.fields] : [])]
      .join('\n')
      .split('\n'),
  }))
  if (!hasText(pages)) return secondReading(bytes)
  const extracted = await assemble(bytes, pages, [...parsed.warnings, ...warnings])
  return { ...extracted, doubts, ...(recognised !== undefined && { recognised }) }
}

/** Pages with the words of lines that run from right to left in the order in which they are read. */
async function inLogicalOrder(
  bytes: Buffer,
  pages: readonly ReadPage[],
): Promise<{ pages: ReadPage[]; doubts: string[] }> {
  const visual = pages.filter(({ isVisual, scan }) => isVisual && scan === undefined)
  const read = await withLogicalOrder(
    bytes,
    visual.map(({ number }) => number),
  )
  return {
    pages: pages.map((page) => {
      const { markdown, text } = read.get(page.number) ?? {}
      return markdown === undefined || text === undefined ? page : { ...page, markdown: pageMarkdown(markdown, text) }
    }),
    doubts: orderDoubts(visual.map(({ markdown }) => markdown)),
  }
}

function garbledDoubts(pages: readonly ReadPage[]): string[] {
  const garbled = pages.filter(({ scan }) => scan === 'garbled').map(({ number }) => number)
  return garbled.length === 0
    ? []
    : [`The PDF does not say which letters it shows, and they may be wrong: ${pageList(garbled)}.`]
}

/** Of a page whose letters have no meaning, neither has their size. */
function unrecognised({ markdown, scan }: ReadPage): string {
  return scan === 'garbled' ? markdown.replace(/^#{1,6}\s+/gm, '') : markdown
}

/** The bytes from the header of a PDF on, which may have others before it (ISO 32000-1, annex H). */
async function readPdf(file: string): Promise<Buffer> {
  const bytes = await readFile(file)
  const start = bytes.subarray(0, 1024).indexOf('%PDF-')
  if (start === -1) throw new ExtractionError('wrong-type', 'The file is not a PDF.')
  return bytes.subarray(start)
}

/** As many pages as there is time for; undefined where the document is too damaged. */
async function parsePages(
  bytes: Buffer,
  { isSpent, onProgress }: { isSpent: () => boolean; onProgress: OnProgress },
): Promise<{ pages: ReadPage[]; warnings: string[] } | undefined> {
  try {
    const pages: ReadPage[] = []
    let total = 0
    for await (const { totalPages, result } of parser().parseBatches(bytes, { batchSize })) {
      if (totalPages > maxPages) {
        throw new ExtractionError('too-large', `The PDF has ${totalPages} pages; ${maxPages} is the most that is read.`)
      }
      total = totalPages
      for (const page of result.pages) pages.push(readPage(page))
      onProgress(pages.filter(({ scan }) => scan === undefined).length, totalPages)
      if (isSpent()) break
    }
    return pages.length === 0 ? undefined : { pages, warnings: warningsOf(pages, total) }
  } catch (cause) {
    if (cause instanceof ExtractionError) throw cause
    if (cause instanceof Error && /password|encrypt|security/i.test(cause.message)) {
      throw new ExtractionError('encrypted', 'The PDF is protected by a password.', { cause })
    }
    return undefined
  }
}

function warningsOf(pages: readonly ReadPage[], total: number): string[] {
  const read = new Set(pages.map(({ number }) => number))
  const missing = Array.from({ length: total }, (_, at) => at + 1).filter((number) => !read.has(number))
  return missing.length === 0 ? [] : [`Not read, since they are damaged or take too long: ${pageList(missing)}.`]
}

function parser(): LiteParse {
  return new LiteParse({
    // It would fetch language data.
    ocrEnabled: false,
    outputFormat: 'markdown',
    imageMode: 'off',
    includeComplexity: true,
    extractContentBounds: true,
    extractFormFields: true,
    continueOnPageError: true,
    maxPages: maxPages + 1,
    numWorkers: 1,
    quiet: true,
  })
}

/** Plain text by another reader, for what the first one cannot read. */
async function secondReading(bytes: Buffer): Promise<Extracted> {
  const texts = await plainPages(bytes, maxPages).catch((cause: unknown) => {
    const isLocked = cause instanceof Error && cause.name === 'PasswordException'
    if (isLocked) throw new ExtractionError('encrypted', 'The PDF is protected by a password.', { cause })
    throw new ExtractionError('corrupt', 'The PDF is damaged and could not be read.', { cause })
  })
  const pages = texts.map((text, at) => ({ number: at + 1, lines: plainParagraphs(text).split('\n') }))
  if (!hasText(pages)) throw new ExtractionError('empty', 'No text was found in the PDF.')
  return assemble(bytes, pages, ['The PDF is damaged: its text was read without its layout.'])
}

async function assemble(bytes: Buffer, read: readonly Page[], warnings: string[]): Promise<Extracted> {
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
  return { title: title ?? firstHeading(pages), markdown: lines.join('\n').trimEnd(), anchors, warnings }
}

function hasText(pages: readonly Page[]): boolean {
  return pages.some(({ lines }) => lines.some((line) => /[\p{L}\p{N}]/u.test(line)))
}
