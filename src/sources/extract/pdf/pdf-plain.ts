import { readFile } from 'node:fs/promises'
import { type Anchor, type Extraction, ExtractionError, type Extractor } from '../../extracted.ts'
import { withoutFalseHeadings } from './pdf-false-headings.ts'
import { firstHeading, withBookmarks } from './pdf-headings.ts'
import { pdfFacts, plainPages } from './pdf-outline.ts'
import { type PdfPage, plainParagraphs } from './pdf-page.ts'
import { dropRunningLines } from './pdf-running-lines.ts'

export const maxPages = 2000

/** The text of a PDF by the second reader alone, for what ends the process of the first. Loads no native code. */
export const extractPlainPdf: Extractor = async ({ file }) => secondReading(await readPdf(file))

/** The bytes from the header of a PDF on, which may have others before it (ISO 32000-1, annex H). */
export async function readPdf(file: string): Promise<Buffer> {
  const bytes = await readFile(file)
  const start = bytes.subarray(0, 1024).indexOf('%PDF-')
  if (start === -1) throw new ExtractionError('wrong-type', 'The file is not a PDF.')
  return bytes.subarray(start)
}

/** Plain text by another reader, for what the first one cannot read. */
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
