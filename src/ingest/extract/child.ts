import { writeSync } from 'node:fs'
import { withLiteralMarks } from '../../markdown/comments.ts'
import { type ExtractInput, ExtractionError, type Extractor } from '../extracted.ts'
import { cleanExtracted } from './clean-extracted.ts'
import { families } from './registry.ts'
import { type ExtractReply, extractRequest } from './reply.ts'

/** Libraries, and the native code in them, may print what they like to the others. */
const outputDescriptor = 3
const progressDescriptor = 4
const tooMuch = /call stack|invalid (?:string|array|typed array) length|allocation failed/i
const systemError = /^(?:E[A-Z]+|ERR_ACCESS_DENIED)$/

process.on('uncaughtException', (error) => answer(failure(error)))

let received = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text: string) => {
  received += text
  if (received.endsWith('\n')) run(received)
})
// Whoever asked is gone.
process.stdin.on('end', () => process.exit(1))

async function run(request: string): Promise<void> {
  const input = extractRequest.parse(JSON.parse(request))
  answer(
    await extract({ ...input, transcriber: input.transcriber && { apiKey: undefined, ...input.transcriber } }).catch(
      failure,
    ),
  )
}

async function extract(input: ExtractInput): Promise<ExtractReply> {
  const extractor = await load(input.fileType)
  const extracted = cleanExtracted(await extractor(input, showProgress))
  // Only Markdown may hold comments of its author's.
  const markdown = input.fileType === 'md' ? extracted.markdown : withLiteralMarks(extracted.markdown)
  return { ok: true, extracted: { ...extracted, markdown } }
}

function showProgress(done: number, total: number): void {
  writeSync(progressDescriptor, `${done} ${total}\n`)
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

/** What a library throws is about the document, but where the system is at fault. */
function failure(error: unknown): ExtractReply {
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

function answer(reply: ExtractReply): void {
  const bytes = Buffer.from(JSON.stringify(reply))
  for (let at = 0; at < bytes.length; ) at += writeSync(outputDescriptor, bytes, at)
  process.exit(0)
}
