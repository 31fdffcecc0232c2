import { openAsBlob } from 'node:fs'
import { z } from 'zod'
import { parseJson } from '../../../contract/json.ts'
import { observedRequest } from '../../../models/language-model.ts'
import { type ExtractInput, ExtractionError, type Transcriber } from '../../extracted.ts'

/** Maximum bytes of a response. */
const maxAnswer = 32 * 2 ** 20
/** Maximum bytes of an error response that are read. */
const maxRefusal = 2 ** 14
const maxReason = 200
const asksForKey: ReadonlySet<number> = new Set([401, 403])
const mayPass: ReadonlySet<number> = new Set([408, 409, 425, 429])

export type Transcript = {
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
