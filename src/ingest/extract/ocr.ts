import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { LiteParse } from '@llamaindex/liteparse'
import { layoutMarkdown } from './ocr-layout.ts'

/** Pixels of the long side of what is recognised: less loses small print, more only takes longer. */
const ocrPixels = 2400

/** A recogniser of English print (Tesseract within liteparse); nothing is fetched. */
type Ocr = {
  /**
   * Markdown of one page.
   * @param source bytes of a PDF, or its path
   * @param longSide of the page, in points
   */
  page: (source: string | Buffer, pageNumber: number, longSide: number) => Promise<string>
}

/** Unpacks the language data into a folder of its own for as long as `use` takes. */
export async function withOcr<T>(use: (ocr: Ocr) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'ganglion-ocr-'))
  try {
    await writeFile(join(folder, 'eng.traineddata'), await languageData())
    return await use({ page: (source, pageNumber, longSide) => recognise(folder, source, pageNumber, longSide) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function recognise(
  folder: string,
  source: string | Buffer,
  pageNumber: number,
  longSide: number,
): Promise<string> {
  const parser = new LiteParse({
    ocrEnabled: true,
    ocrLanguage: 'eng',
    tessdataPath: folder,
    targetPages: String(pageNumber),
    dpi: Math.max(1, Math.round((ocrPixels * 72) / longSide)),
    numWorkers: 1,
    quiet: true,
  })
  const { pages } = await parser.parse(source)
  return layoutMarkdown(pages[0]?.textItems ?? [])
}

async function languageData(): Promise<Buffer> {
  const folder = dirname(fileURLToPath(import.meta.resolve('@tesseract.js-data/eng')))
  return promisify(gunzip)(await readFile(join(folder, '4.0.0_best_int', 'eng.traineddata.gz')))
}
