import { readFileSync } from 'node:fs'
import { LiteParse } from '@llamaindex/liteparse'
import { PNG } from 'pngjs'
import { docxFile, pptxFile, xlsxFile } from './office-files.ts'
import { layOut, scannedPdf, textPdf } from './pdf-file.ts'
import { blocksOf } from './prose.ts'
import type { Extent } from './reference.ts'
import { csvText, htmlText, markdownText, plainText, tableRows } from './text-files.ts'

/** A generated document, and what reading or compiling it may take. */
export type Target = {
  name: string
  /** Extension. */
  type: string
  bytes: () => Promise<Uint8Array>
  /** Text that was written; absent if statistics replace it. */
  reference?: string
  extent: Extent
  /** Step that the target limits. */
  step: 'extract' | 'compile'
  /** Limits on two cores. */
  aim: { seconds: number; megabytes?: number }
}

const million = 1_000_000
/** Approximate characters of an A4 page in a text document. */
const charactersPerPage = 3000
/** Resolution of pages rendered for OCR: a usual scan. */
const scanDpi = 200

export const targets: readonly Target[] = [
  pdfTarget(100, { seconds: 3, megabytes: 300 }),
  pdfTarget(1000, { seconds: 20, megabytes: 1000 }),
  scanTarget(),
  docxTarget('3 MB docx: 200 pages and a picture', 200, 2.85 * million, { seconds: 3 }),
  docxTarget('872-page docx', 872, 0, { seconds: 8 }),
  pptxTarget(),
  xlsxTarget(100_000),
  htmlTarget(),
  csvTarget(),
  markdownTarget(),
]

function pdfTarget(count: number, aim: Target['aim']): Target {
  const pages = layOut(blocksOf(count * 2 * charactersPerPage), count)
  return {
    name: `${count}-page PDF`,
    type: 'pdf',
    bytes: async () => textPdf(pages),
    reference: wordsOn(pages),
    extent: { count: pages.length, unit: 'pages' },
    step: 'extract',
    aim,
  }
}

/** Returns a scan in English, whose words the recognizer knows: the beginning of the licence. */
function scanTarget(): Target {
  const licence = readFileSync(new URL('../../LICENSE', import.meta.url), 'utf8')
  const paragraphs = licence.split(/\n\s*\n/).map((text) => text.replace(/\s+/g, ' ').trim())
  const blocks = paragraphs.map((text) => ({ kind: 'paragraph' as const, text }))
  const pages = layOut(blocks, 1)
  return {
    name: `scanned page, ${scanDpi} dpi`,
    type: 'pdf',
    bytes: async () => scannedPdf(await pictureOf(textPdf(pages))),
    reference: wordsOn(pages),
    extent: { count: 1, unit: 'pages' },
    step: 'extract',
    aim: { seconds: 10 },
  }
}

function docxTarget(name: string, count: number, pictures: number, aim: Target['aim']): Target {
  const blocks = blocksOf(count * charactersPerPage)
  return {
    name,
    type: 'docx',
    bytes: async () => docxFile(blocks, pictures),
    reference: plainText(blocks),
    extent: { count, unit: 'pages' },
    step: 'extract',
    aim,
  }
}

function pptxTarget(): Target {
  const blocks = blocksOf(300_000)
  return {
    name: '2 MB pptx: notes and a picture',
    type: 'pptx',
    bytes: async () => pptxFile(blocks, 1.5 * million),
    extent: { count: blocks.filter(({ kind }) => kind === 'heading').length, unit: 'slides' },
    step: 'extract',
    aim: { seconds: 3 },
  }
}

function xlsxTarget(count: number): Target {
  return {
    name: `${count}-row xlsx, 6 columns`,
    type: 'xlsx',
    bytes: async () => xlsxFile(tableRows(count)),
    extent: { count, unit: 'rows' },
    step: 'extract',
    aim: { seconds: 6 },
  }
}

function htmlTarget(): Target {
  const blocks = blocksOf(2.36 * million)
  const html = htmlText(blocks)
  return {
    name: '2.4 MB html',
    type: 'html',
    bytes: async () => Buffer.from(html),
    reference: plainText(blocks),
    extent: { count: html.length / 1000, unit: 'KB' },
    step: 'extract',
    aim: { seconds: 5 },
  }
}

function csvTarget(): Target {
  const { text, rows } = csvText(50 * million)
  return {
    name: '50 MB csv, 6 columns',
    type: 'csv',
    bytes: async () => Buffer.from(text),
    extent: { count: rows, unit: 'rows' },
    step: 'extract',
    aim: { seconds: 5 },
  }
}

function markdownTarget(): Target {
  const blocks = blocksOf(million)
  const markdown = markdownText(blocks)
  return {
    name: 'compile of 1 MB Markdown',
    type: 'md',
    bytes: async () => Buffer.from(markdown),
    reference: plainText(blocks),
    extent: { count: markdown.length / 1000, unit: 'KB' },
    step: 'compile',
    aim: { seconds: 5 },
  }
}

async function pictureOf(pdf: Buffer) {
  const parser = new LiteParse({ ocrEnabled: false, dpi: scanDpi, quiet: true })
  const [shot] = await parser.screenshot(pdf, [1])
  if (shot === undefined) throw new Error('The page could not be rendered.')
  const { width, height, data } = PNG.sync.read(shot.imageBuffer)
  return { width, height, grey: Buffer.from(data.filter((_, at) => at % 4 === 0)) }
}

function wordsOn(pages: ReturnType<typeof layOut>): string {
  return pages.flatMap((lines) => lines.map(({ text }) => text)).join('\n')
}
