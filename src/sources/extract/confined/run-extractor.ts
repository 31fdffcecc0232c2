import { withLiteralMarks } from '../../../markdown/comments.ts'
import { oneLine } from '../../../rules/text/lines.ts'
import { joinLetters } from '../../broken-words.ts'
import {
  type Anchor,
  type Extracted,
  type ExtractInput,
  type Extraction,
  ExtractionError,
  type Extractor,
  type OnProgress,
} from '../../extracted.ts'
import { withoutOuterFormatSigns } from '../../format-signs.ts'
import { maxMarkdownBytes } from '../extract-limits.ts'
import { cleanMarkdown } from '../markdown/clean-markdown.ts'
import { missingWords } from '../missing-words.ts'
import { families } from '../registry.ts'
import type { ExtractReply } from './reply.ts'

/** Share of a file's words that its text must lack before people are warned. */
const mostUntold = 0.05
/** Share of a file's words that its text must lack before a curator has to decide. */
const mostLost = 0.1
/** Minimum number of missing words for a warning. */
const fewest = 5

const tooMuch = /call stack|invalid (?:string|array|typed array) length|allocation failed/i
const systemError = /^(?:E[A-Z]+|ERR_ACCESS_DENIED)$/
const maxTitle = 200
const maxNote = 500
const maxNotes = 50

/** Reads a document in this process, without limits. Returns its text, or the reason why it has none. Never rejects. */
export function runExtractor(input: ExtractInput, onProgress: OnProgress): Promise<ExtractReply> {
  return extract(input, onProgress).catch(failure)
}

async function extract(input: ExtractInput, onProgress: OnProgress): Promise<ExtractReply> {
  const extractor = await load(input.fileType)
  const extracted = cleanExtracted(await extractor(input, onProgress))
  // Only Markdown may hold comments of its author's.
  const markdown = input.fileType === 'md' ? extracted.markdown : withLiteralMarks(extracted.markdown)
  return { ok: true, extracted: { ...extracted, markdown } }
}

/**
 * Cleans the result of every extractor: Markdown without HTML, images and front matter; only links to http, https and mailto;
 * anchors in order and in range. Reports words that the file shows and the Markdown lacks.
 * @throws {ExtractionError} `empty`, `too-large`
 */
function cleanExtracted(extraction: Extraction): Extracted {
  const { title, markdown, searchOnlyFrom, anchors, tags, audience, recognised, shown = '' } = extraction
  const cleaned = cleanMarkdown(markdown)
    .replace(/^(#{1,6} )(.*)$/gm, (_, signs: string, heading: string) => signs + joinLetters(heading))
    .trimEnd()
  const blankLines = /^(?:[ \t]*\n)*/.exec(cleaned)?.[0] ?? ''
  const text = cleaned.slice(blankLines.length)
  if (!/[\p{L}\p{N}\p{S}]/u.test(text)) throw new ExtractionError('empty', 'The document holds no text.')
  if (Buffer.byteLength(text) > maxMarkdownBytes) {
    const message = `The document's text is longer than ${maxMarkdownBytes / 2 ** 20} MB: split it.`
    throw new ExtractionError('too-large', message)
  }
  const firstLine = countLines(blankLines) + 1
  const lost = lostWords(shown, text)
  const doubts = [...(extraction.doubts ?? []), ...lost.doubts]
  return {
    title: oneLine(joinLetters(withoutOuterFormatSigns(title ?? '')), maxTitle) || undefined,
    markdown: text,
    ...(searchOnlyFrom !== undefined && { searchOnlyFrom: Math.max(1, searchOnlyFrom - firstLine + 1) }),
    anchors: placeAnchors(anchors, firstLine, countLines(text) + 1),
    warnings: cleanNotes([...extraction.warnings, ...lost.warnings]),
    ...(doubts.length > 0 && { doubts: cleanNotes(doubts) }),
    ...(tags && { tags: cleanTexts(tags) }),
    ...(audience && { audience: cleanTexts(audience) }),
    ...(recognised !== undefined && { recognised }),
  }
}

function cleanNotes(notes: readonly string[]): string[] {
  return cleanTexts(notes).slice(0, maxNotes)
}

function cleanTexts(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => oneLine(text, maxNote)))]
}

/** Keeps the last of the anchors before the text, and none after it. */
function placeAnchors(anchors: readonly Anchor[], firstLine: number, lines: number): Anchor[] {
  return anchors
    .map((anchor) => ({ ...anchor, line: Math.max(1, anchor.line - firstLine + 1) }))
    .filter(({ line }) => line <= lines)
    .toSorted((one, other) => one.line - other.line)
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

async function load(fileType: string): Promise<Extractor> {
  try {
    const extractor = await families.get(fileType)?.load()
    if (extractor) return extractor
  } catch (error) {
    console.error(error)
  }
  throw new ExtractionError('crashed', `The program that reads .${fileType} could not be loaded.`)
}

/** Returns the reply for an error. Errors of a library are blamed on the document, unless they are errors of the system. */
export function failure(error: unknown): ExtractReply {
  if (error instanceof ExtractionError) return { ok: false, problem: error.problem, message: error.message }
  console.error(error)
  if (error instanceof RangeError && tooMuch.test(error.message)) {
    return { ok: false, problem: 'too-large', message: 'The document is too large, or nested too deeply, to be read.' }
  }
  if (error instanceof Error && 'code' in error && systemError.test(String(error.code))) {
    return { ok: false, problem: 'crashed', message: `The document could not be read (${error.code}).` }
  }
  return { ok: false, problem: 'corrupt', message: 'The document cannot be read: it may be damaged.' }
}

/**
 * Compares the words that a file shows with those of the Markdown that was made of it, and returns warnings and doubts about words
 * that the Markdown lacks. `shown` must be taken from the file itself, before any step that may drop text.
 */
function lostWords(shown: string, markdown: string): { warnings: string[]; doubts: string[] } {
  const { all, missing: lost } = missingWords(shown, markdown)
  if (lost < fewest || lost <= all * mostUntold) return { warnings: [], doubts: [] }
  const told = [`Of the ${all} words that the file shows, ${lost} are not in its text.`]
  return lost > all * mostLost ? { warnings: [], doubts: told } : { warnings: told, doubts: [] }
}
