import { withLiteralMarks } from '../../../markdown/comments.ts'
import { type ExtractInput, ExtractionError, type Extractor, type OnProgress } from '../../extracted.ts'
import { cleanExtracted } from '../markdown/clean-extracted.ts'
import { families } from '../registry.ts'
import type { ExtractReply } from './reply.ts'

const tooMuch = /call stack|invalid (?:string|array|typed array) length|allocation failed/i
const systemError = /^(?:E[A-Z]+|ERR_ACCESS_DENIED)$/

/** Reads a document in this process, without limits. Returns its text, or why there is none. Never rejects. */
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

async function load(fileType: string): Promise<Extractor> {
  try {
    const extractor = await families.get(fileType)?.load()
    if (extractor) return extractor
  } catch (error) {
    console.error(error)
  }
  throw new ExtractionError('crashed', `The program that reads .${fileType} could not be loaded.`)
}

/** An error of a library is about the document, unless it is an error of the system. */
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
