import { openAsBlob } from 'node:fs'
import type { IAudioMetadata } from 'music-metadata'
import { z } from 'zod'
import { parseJson } from '../../../contract/json.ts'
import { observedRequest } from '../../../models/language-model.ts'
import { type Anchor, type ExtractInput, type Extraction, ExtractionError, type Transcriber } from '../../extracted.ts'
import { plainLine } from '../markdown/escape-markdown.ts'

/** Seconds of speech in a paragraph. */
const paragraphLength = 60

type Chapter = { time: number; title: string }

/** Timeout in milliseconds. */
const timeout = 30 * 60_000
const maxChapters = 1_000

/**
 * Returns the transcript of a recording, in paragraphs of about a minute, below its chapters if it has any. Without a transcriber the text
 * is empty.
 * @throws {ExtractionError}
 */
export async function extractAudio(input: ExtractInput): Promise<Extraction> {
  const metadata = await readMetadata(input)
  if (input.transcriber === undefined) {
    const settings = 'GANGLION_TRANSCRIBER_URL and GANGLION_TRANSCRIBER_MODEL'
    const message = `A recording needs a transcriber to become text: set ${settings}, then ingest again.`
    throw new ExtractionError('not-configured', message)
  }
  const transcript = await transcribe(input, input.transcriber, AbortSignal.timeout(timeout))
  const { lines, anchors } = writeTranscript(transcript, chaptersOf(metadata))
  if (anchors.length === 0) throw new ExtractionError('empty', 'The transcriber heard no speech in the recording.')
  const facts = factsOf(metadata)
  const head = facts === '' ? [] : [facts, '']
  return {
    title: metadata.common.title?.trim() || undefined,
    markdown: [...head, ...lines].join('\n').trimEnd(),
    anchors: anchors.map(({ line, time }) => ({ line: line + head.length, ...(time === undefined ? {} : { time }) })),
    warnings: transcript.segments.length > 0 ? [] : ['The transcriber told no times.'],
    shown: undefined,
  }
}

async function readMetadata({ file, fileType }: ExtractInput): Promise<IAudioMetadata> {
  const { parseFile } = await import('music-metadata')
  let metadata: IAudioMetadata
  try {
    metadata = await parseFile(file, { duration: true, skipCovers: true, includeChapters: true })
  } catch (cause) {
    throw new ExtractionError('wrong-type', `The content of the file is no ${fileType} recording.`, { cause })
  }
  if (metadata.format.container === undefined && metadata.format.codec === undefined) {
    throw new ExtractionError('wrong-type', `The content of the file is no ${fileType} recording.`)
  }
  return metadata
}

function factsOf({ common, format }: IAudioMetadata): string {
  const { artist, album, year } = common
  return [
    ...(artist ? [`Artist: ${plainLine(artist)}`] : []),
    ...(album ? [`Album: ${plainLine(album)}`] : []),
    ...(year ? [`Year: ${year}`] : []),
    ...(format.duration ? [`Duration: ${clock(format.duration)}`] : []),
  ].join(' · ')
}

function chaptersOf({ format }: IAudioMetadata): Chapter[] {
  return (format.chapters ?? [])
    .slice(0, maxChapters)
    .map(({ title, start, timeScale = 1000 }) => ({ title: title.trim(), time: start / timeScale }))
    .filter(({ title, time }) => title !== '' && Number.isFinite(time) && time >= 0)
    .sort((a, b) => a.time - b.time)
}

/** Paragraphs of about a minute, each with its time, below chapters. */
function writeTranscript(
  { text, segments }: Transcript,
  chapters: readonly Chapter[],
): { lines: string[]; anchors: Anchor[] } {
  const lines: string[] = []
  const anchors: Anchor[] = []
  const add = (block: string, time: number | undefined) => {
    anchors.push({ line: lines.length + 1, ...(time === undefined ? {} : { time: Math.floor(time) }) })
    lines.push(block, '')
  }
  if (segments.length === 0) {
    for (const paragraph of text.split(/\n\s*\n/).map(plainLine)) if (paragraph !== '') add(paragraph, undefined)
    return { lines, anchors }
  }
  const rest = [...chapters]
  let paragraph: { time: number; texts: string[] } | undefined
  const endParagraph = () => {
    if (paragraph !== undefined)
      add(`[${clock(paragraph.time)}] ${plainLine(paragraph.texts.join(' '))}`, paragraph.time)
    paragraph = undefined
  }
  for (const segment of segments.toSorted((a, b) => a.start - b.start)) {
    if (segment.text.trim() === '') continue
    for (let next = rest[0]; next !== undefined && next.time <= segment.start; next = rest[0]) {
      endParagraph()
      add(`## ${plainLine(next.title)}`, next.time)
      rest.shift()
    }
    if (paragraph !== undefined && segment.start - paragraph.time >= paragraphLength) endParagraph()
    paragraph ??= { time: segment.start, texts: [] }
    paragraph.texts.push(segment.text)
  }
  endParagraph()
  return { lines, anchors }
}

/** Returns `mm:ss`, or `h:mm:ss` from an hour. */
function clock(time: number): string {
  const seconds = Math.floor(time)
  const pad = (part: number) => String(part).padStart(2, '0')
  const minutes = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`
  return seconds < 3600 ? minutes : `${Math.floor(seconds / 3600)}:${minutes}`
}

/** Maximum bytes of a response. */
const maxAnswer = 32 * 2 ** 20
/** Maximum bytes of an error response that are read. */
const maxRefusal = 2 ** 14
const maxReason = 200
const asksForKey: ReadonlySet<number> = new Set([401, 403])
const mayPass: ReadonlySet<number> = new Set([408, 409, 425, 429])

type Transcript = {
  text: string
  /** Segments in order; `start` is in seconds. Empty if the endpoint reports no times. */
  segments: { start: number; text: string }[]
}

const Answer = z.object({
  text: z.string(),
  segments: z.array(z.object({ start: z.number().nonnegative(), text: z.string() })).nullish(),
})

/**
 * Transcribes a recording with an endpoint compatible with OpenAI's `/v1/audio/transcriptions`. If the endpoint does not know
 * `verbose_json`, `json` is requested. No message contains its address or key.
 * @throws {ExtractionError} `crashed` if another attempt may help
 */
export async function transcribe(
  { file, fileType }: Pick<ExtractInput, 'file' | 'fileType'>,
  transcriber: Transcriber,
  signal: AbortSignal,
): Promise<Transcript> {
  const recording = await openAsBlob(file)
  const request = (format: string) => post(transcriber, formOf(recording, fileType, transcriber.model, format), signal)
  try {
    let response = await request('verbose_json')
    let refusal = response.ok ? '' : await readText(response, maxRefusal)
    if (response.status === 400 && /response_format|verbose_json/.test(refusal)) {
      response = await request('json')
      refusal = response.ok ? '' : await readText(response, maxRefusal)
    }
    if (!response.ok) throw refusedError(response.status, reasonOf(refusal, transcriber.apiKey))
    return readAnswer(await readText(response, maxAnswer + 1))
  } catch (cause) {
    if (cause instanceof ExtractionError) throw cause
    if (signal.aborted) throw new ExtractionError('too-slow', 'The transcriber took too long.', { cause })
    throw new ExtractionError('crashed', 'The transcriber could not be reached, or broke off.', { cause })
  }
}

function formOf(recording: Blob, fileType: string, model: string, format: string): FormData {
  const form = new FormData()
  form.append('model', model)
  form.append('response_format', format)
  if (format === 'verbose_json') form.append('timestamp_granularities[]', 'segment')
  // Endpoints detect the format by the extension.
  form.append('file', recording, `recording.${fileType}`)
  return form
}

function post({ url, model, apiKey }: Transcriber, body: FormData, signal: AbortSignal): Promise<Response> {
  const send = () =>
    fetch(`${url.replace(/\/+$/, '')}/audio/transcriptions`, {
      method: 'POST',
      headers: apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` },
      body,
      signal,
      redirect: 'error',
    })
  return observedRequest('transcription', model, send)
}

/** Reads a response of at most `max` bytes. */
async function readText(response: Response, max: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= max) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, Math.min(size, max))
}

function readAnswer(text: string): Transcript {
  if (Buffer.byteLength(text) > maxAnswer) {
    throw new ExtractionError('too-large', `The transcript is longer than ${maxAnswer / 2 ** 20} MB.`)
  }
  const answer = Answer.safeParse(parseJson(text))
  if (!answer.success) throw new ExtractionError('crashed', 'The answer of the transcriber is no transcript.')
  return { text: answer.data.text, segments: answer.data.segments ?? [] }
}

function refusedError(status: number, reason: string): ExtractionError {
  if (asksForKey.has(status)) {
    const message = 'The transcriber refuses the key: check GANGLION_TRANSCRIBER_KEY, then ingest again.'
    return new ExtractionError('not-configured', message)
  }
  if (status === 404) {
    const settings = 'GANGLION_TRANSCRIBER_URL and GANGLION_TRANSCRIBER_MODEL'
    return new ExtractionError('not-configured', `The transcriber was not found: check ${settings}, then ingest again.`)
  }
  if (status === 413) {
    return new ExtractionError('too-large', 'The recording is too large for the transcriber: split or compress it.')
  }
  const problem = status >= 500 || mayPass.has(status) ? 'crashed' : 'unsupported'
  return new ExtractionError(problem, `The transcriber refuses the recording (${status}${reason}).`)
}

/** Returns the endpoint's own reason, on one line and without the key, which some repeat. */
function reasonOf(refusal: string, apiKey: string | undefined): string {
  const Refusal = z.object({ error: z.object({ message: z.string() }) })
  const message = Refusal.safeParse(parseJson(refusal)).data?.error.message ?? ''
  const line = (apiKey === undefined ? message : message.replaceAll(apiKey, '…')).replace(/\s+/g, ' ').trim()
  return line === '' ? '' : `: ${line.slice(0, maxReason)}`
}
