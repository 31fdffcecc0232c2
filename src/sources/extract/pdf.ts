import { LiteParse } from '@llamaindex/liteparse'
import { hasBrokenWords } from '../broken-words.ts'
import { ExtractionError, type Extractor, type OnProgress } from '../extracted.ts'
import { recogniseScans } from './image/pdf-scans.ts'
import { orderDoubts, withLogicalOrder } from './pdf/pdf-bidi.ts'
import { withCompoundHyphens } from './pdf/pdf-hyphens.ts'
import { plainPages } from './pdf/pdf-outline.ts'
import { pageList, pageMarkdown, plainParagraphs } from './pdf/pdf-page.ts'
import { assemble, hasText, maxPages, readPdf, secondReading } from './pdf/pdf-plain.ts'
import { countLetters, type ReadPage, readPdfPage } from './pdf/pdf-read-page.ts'

/** CPU time after which no further page is read, so that the limits of the process do not lose the pages read so far. */
const cpuBudget = 45_000_000 // microseconds

/** Minimum letters of PDF.js' reading, as a share of the first reader's, for it to replace a page. */
const leastLetters = 0.9
/** Maximum pages that are parsed at a time, since the position of every piece of text is in memory. */
const batchSize = 100

/**
 * Returns the text of a PDF in reading order, page by page. Pages that are pictures are recognised. Scripts, attachments and other pictures
 * are ignored, and nothing is loaded.
 */
export const extractPdf: Extractor = async ({ file, ocrLanguages }, onProgress) => {
  const bytes = await readPdf(file)
  const reading = { isSpent: timeBudget(), onProgress, languages: ocrLanguages }
  const parsed = await parsePages(bytes, reading)
  if (parsed === undefined) return secondReading(bytes)
  const sound = await unscrambled(bytes, parsed.pages)
  const ordered = await inLogicalOrder(bytes, withCompoundHyphens(sound))
  const { texts, recognised, warnings, doubts: ofScans } = await recogniseScans(bytes, ordered.pages, reading)
  const doubts = [
    ...ofScans,
    ...ordered.doubts,
    ...garbledDoubts(ordered.pages.filter(({ number }) => !texts.has(number))),
  ]
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

/** Replaces pages on which the first reader may have mixed up letters or lines by the reading of PDF.js. */
async function unscrambled(bytes: Buffer, pages: readonly ReadPage[]): Promise<ReadPage[]> {
  const scrambled = new Set(
    pages.filter(({ isScrambled, scan }) => isScrambled && scan === undefined).map(({ number }) => number),
  )
  if (scrambled.size === 0) return [...pages]
  const texts = await plainPages(bytes, maxPages, (number) => scrambled.has(number)).catch(() => [])
  return pages.map((page) => {
    const text = texts[page.number - 1] ?? ''
    const isPoorer = countLetters(text) < leastLetters * page.letters || hasBrokenWords(text)
    return isPoorer || !scrambled.has(page.number) ? page : { ...page, markdown: plainParagraphs(text) }
  })
}

/** Returns the pages with the words of right-to-left lines in reading order. */
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

/** Returns the text of a page that was not recognised. If its characters have no meaning, neither have font sizes: headings become text. */
function unrecognised({ markdown, scan }: ReadPage): string {
  return scan === 'garbled' ? markdown.replace(/^#{1,6}\s+/gm, '') : markdown
}

/** Parses as many pages as time allows. Undefined if the document is too damaged. */
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
      for (const page of result.pages) pages.push(readPdfPage(page))
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

/** Returns a function that reports whether most of the time for a document has passed since this call. */
function timeBudget(): () => boolean {
  const computing = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(computing)
    return user + system > cpuBudget
  }
}
