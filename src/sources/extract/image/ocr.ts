import { existsSync } from 'node:fs'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { LiteParse, type TextItem } from '@llamaindex/liteparse'
import type { Recognised } from '../../extracted.ts'
import { countLetters } from '../pdf/pdf-read-page.ts'
import { isSideways, layoutMarkdown } from './ocr-layout.ts'

const english = 'eng'
/** Pixels of the long side of the picture for OCR: fewer lose small print, more only take longer. */
const ocrPixels = 2400

/** Minimum confidence of an upright page. Below it, the page is also tried in other orientations. */
const soundConfidence = 0.85
type Angle = 0 | 90 | 180 | 270
const turned: readonly Angle[] = [90, 180, 270]

export type RecognisedPage = Recognised & { markdown: string }

/** OCR engine (Tesseract in liteparse) that downloads nothing. */
type Ocr = {
  /** Names of the languages that it recognises, for people. */
  languages: string
  /** Doubts for a curator if a requested language is not available. */
  doubts: string[]
  page: (picture: PageOfSource) => Promise<RecognisedPage | undefined>
}

export type PageOfSource = {
  /** Bytes or path of a PDF. */
  source: string | Buffer
  /** Page number, from 1. */
  number: number
  /** Long side of the page, in points. */
  longSide: number
  /** True if other orientations are tried as well if the confidence is low. */
  mayBeTurned: boolean
}

/** Unpacks the language data into a temporary folder while `use` runs. @param asked Tesseract's names of languages; English if empty */
export async function withOcr<T>(asked: readonly string[] | undefined, use: (ocr: Ocr) => Promise<T>): Promise<T> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'ganglion-ocr-'))
  const { path: folder } = temporary
  const wanted = asked === undefined || asked.length === 0 ? [english] : asked
  const missing = wanted.filter((language) => !isInstalled(language))
  const found = wanted.filter(isInstalled)
  const read = found.length === 0 ? [english] : found
  for (const language of read) {
    await writeFile(join(folder, `${language}.traineddata`), await languageData(language))
  }
  const names = new Intl.ListFormat('en').format(read.map(nameOf))
  return await use({
    languages: names,
    doubts:
      missing.length === 0
        ? []
        : [`Print was recognised as ${names}: the data for ${missing.map(nameOf).join(', ')} is not installed.`],
    page: (picture) => recognise(picture, (angle) => wordsOf(folder, picture, { angle, language: read.join('+') })),
  })
}

/** Returns the figures of recognised text, with the languages that were requested. */
export function recognisedIn(asked: readonly string[] | undefined, { words, confidence }: Recognised): Recognised {
  return { words, confidence, ...(asked !== undefined && asked.length > 0 && { languages: [...asked] }) }
}

/**
 * Recognises a page, in other orientations too if the confidence is low.
 * @param read returns the words of the page turned clockwise by so many degrees
 */
async function recognise(
  { mayBeTurned }: PageOfSource,
  read: (angle: Angle) => Promise<TextItem[]>,
): Promise<RecognisedPage | undefined> {
  let items = await read(0)
  if (items.length === 0) return undefined
  if (mayBeTurned && !isSound(items)) {
    for (const angle of turned) {
      const others = await read(angle)
      if (uprightLetters(others) > uprightLetters(items)) items = others
    }
  }
  return { markdown: layoutMarkdown(items), ...confidenceOf(items) }
}

function isSound(items: readonly TextItem[]): boolean {
  const upright = items.filter((item) => !isSideways(item))
  return 2 * upright.length > items.length && confidenceOf(items).confidence >= soundConfidence
}

/** Counts the letters and digits in words that do not run sideways, each weighted by its confidence. */
function uprightLetters(items: readonly TextItem[]): number {
  return items
    .filter((item) => !isSideways(item))
    .reduce((sum, { text, confidence = 0 }) => sum + countLetters(text) * confidence, 0)
}

function confidenceOf(items: readonly TextItem[]): Recognised {
  let words = 0
  let sum = 0
  for (const { text, confidence = 0 } of items) {
    const count = text.trim().split(/\s+/).length
    words += count
    sum += count * confidence
  }
  return { words, confidence: words === 0 ? 0 : Math.min(1, sum / words) }
}

async function wordsOf(
  folder: string,
  { source, number, longSide }: PageOfSource,
  { angle, language }: { angle: Angle; language: string },
): Promise<TextItem[]> {
  const parser = new LiteParse({
    ocrEnabled: true,
    ocrLanguage: language,
    tessdataPath: folder,
    targetPages: String(number),
    dpi: Math.max(1, Math.round((ocrPixels * 72) / longSide)),
    numWorkers: 1,
    quiet: true,
    pageOrientationCorrections: [{ page: number, angle }],
  })
  const { pages } = await parser.parse(source)
  return (pages[0]?.textItems ?? []).filter(({ text }) => text.trim() !== '')
}

async function languageData(language: string): Promise<Buffer> {
  const file = join(dataFolder(language), '4.0.0_best_int', `${language}.traineddata.gz`)
  return promisify(gunzip)(await readFile(file))
}

/** Returns the folder of a language's package. English is a dependency; others are installed beside it on demand. */
function dataFolder(language: string): string {
  const index =
    language === english
      ? import.meta.resolve('@tesseract.js-data/eng')
      : import.meta.resolve(`@tesseract.js-data/${language}`)
  return dirname(fileURLToPath(index))
}

function isInstalled(language: string): boolean {
  try {
    return existsSync(dataFolder(language))
  } catch {
    return false
  }
}

/** Returns the English name of a language, such as German for `deu`. */
function nameOf(language: string): string {
  const [code = language] = language.split('_')
  const name = new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code
  return code === language ? name : `${name} (${language})`
}
