import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { transcribe } from '../../../src/sources/extract/audio/audio.ts'
import { extractDocument } from '../../../src/sources/extract/extract.ts'
import { ExtractionError, type Transcriber } from '../../../src/sources/extracted.ts'

const undo: (() => void)[] = []
afterEach(() => {
  for (const each of undo.splice(0)) each()
})

/** A second of silence, with a title and an artist. */
function wav(): Buffer {
  const chunk = (id: string, data: Buffer) => {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(data.length)
    return Buffer.concat([Buffer.from(id), size, data, Buffer.alloc(data.length % 2)])
  }
  const format = Buffer.from('0100010040 1f0000 803e0000 02001000'.replaceAll(' ', ''), 'hex')
  const info = [chunk('INAM', Buffer.from('Board meeting\0')), chunk('IART', Buffer.from('Ann\0'))]
  return chunk(
    'RIFF',
    Buffer.concat([
      Buffer.from('WAVE'),
      chunk('fmt ', format),
      chunk('LIST', Buffer.concat([Buffer.from('INFO'), ...info])),
      chunk('data', Buffer.alloc(16_000)),
    ]),
  )
}

type Handler = (request: { body: string; headers: IncomingMessage['headers'] }, response: ServerResponse) => void

/** An endpoint that answers as it is told. */
async function endpoint(handler: Handler): Promise<Transcriber> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    handler({ body: Buffer.concat(chunks).toString('latin1'), headers: request.headers }, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  undo.push(
    () => server.closeAllConnections(),
    () => server.close(),
  )
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, model: 'whisper', apiKey: 'sk-hunter2' }
}

function fileOf(bytes: Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'ganglion-audio-'))
  undo.push(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'blob'), bytes)
  return join(folder, 'blob')
}

const extract = (transcriber: Transcriber | undefined, bytes = wav()) =>
  extractDocument({ file: fileOf(bytes), filename: 'a.wav', fileType: 'wav', transcriber })

async function refusal(extracting: Promise<unknown>): Promise<[string, string]> {
  const error = await extracting.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ExtractionError)) throw new Error('no refusal', { cause: error })
  return [error.problem, error.message]
}

test('a recording becomes its transcript, in paragraphs of a minute with their time', async () => {
  const asked: string[] = []
  const transcriber = await endpoint(({ body, headers }, response) => {
    asked.push(String(headers.authorization), body.slice(0, 2000))
    const segments = [
      { start: 0, end: 30, text: ' Good morning.' },
      { start: 30.5, end: 65, text: ' We begin.' },
      { start: 65.2, end: 70, text: ' 1. The bridge.' },
      { start: 3700, end: 3701, text: ' Thanks.' },
    ]
    response.end(JSON.stringify({ text: 'all', segments }))
  })
  expect(await extract(transcriber)).toEqual({
    title: 'Board meeting',
    markdown:
      'Artist: Ann · Duration: 00:01\n\n[00:00] Good morning. We begin.\n\n[01:05] 1\\. The bridge.\n\n[1:01:40] Thanks.',
    anchors: [
      { line: 3, time: 0 },
      { line: 5, time: 65 },
      { line: 7, time: 3700 },
    ],
    warnings: [],
  })
  expect(asked[0]).toBe('Bearer sk-hunter2')
  for (const part of ['name="model"', 'whisper', 'verbose_json', 'filename="recording.wav"']) {
    expect(asked[1]).toContain(part)
  }
})

test('without a transcriber it fails, naming the settings', async () => {
  expect(await refusal(extract(undefined))).toEqual([
    'not-configured',
    'A recording needs a transcriber to become text: set GANGLION_TRANSCRIBER_URL and GANGLION_TRANSCRIBER_MODEL, then ingest again.',
  ])
})

test('what is no recording is not sent anywhere', async () => {
  let asked = 0
  const transcriber = await endpoint((_, response) => {
    asked++
    response.end()
  })
  const [problem] = await refusal(extract(transcriber, Buffer.from('<html>not sound</html>'.repeat(100))))
  expect([problem, asked]).toEqual(['wrong-type', 0])
})

test('an endpoint that knows only plain answers is asked for one, and its lack of times told of', async () => {
  const transcriber = await endpoint(({ body }, response) => {
    if (body.includes('verbose_json')) {
      response.writeHead(400).end(JSON.stringify({ error: { message: "response_format 'verbose_json' is unknown" } }))
    } else response.end(JSON.stringify({ text: 'First.\n\nSecond.' }))
  })
  const { markdown, warnings } = await extract(transcriber)
  expect(markdown).toContain('First.\n\nSecond.')
  expect(warnings).toEqual(['The transcriber told no times.'])
})

test('silence has no text, and none is made up', async () => {
  const transcriber = await endpoint((_, response) => response.end(JSON.stringify({ text: ' ', segments: [] })))
  expect((await refusal(extract(transcriber)))[0]).toBe('empty')
})

test.each([
  [401, '', 'not-configured', 'check GANGLION_TRANSCRIBER_KEY'],
  [404, '', 'not-configured', 'check GANGLION_TRANSCRIBER_URL'],
  [413, '', 'too-large', 'too large for the transcriber'],
  [415, 'no such codec, sk-hunter2', 'unsupported', '(415: no such codec, …)'],
  [429, '', 'crashed', '(429)'],
  [503, 'busy', 'crashed', '(503: busy)'],
  [302, '', 'crashed', 'could not be reached'],
])('an answer of %s is told', async (status, message, problem, told) => {
  const transcriber = await endpoint((_, response) =>
    response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(JSON.stringify({ error: { message } })),
  )
  const [actual, sentence] = await refusal(extract(transcriber))
  expect(actual).toBe(problem)
  expect(sentence).toContain(told)
  expect(sentence).not.toContain('hunter2')
})

test.each(['no JSON', '{"text":42}', '[]'])('the answer %j is no transcript', async (answer) => {
  const transcriber = await endpoint((_, response) => response.end(answer))
  expect(await refusal(extract(transcriber))).toEqual(['crashed', 'The answer of the transcriber is no transcript.'])
})

test('an endpoint that is not there may be tried again', async () => {
  const [problem, message] = await refusal(extract({ url: 'http://127.0.0.1:1/v1', model: 'm', apiKey: undefined }))
  expect([problem, message]).toEqual(['crashed', 'The transcriber could not be reached, or broke off.'])
})

test('an endpoint that never answers is given up', async () => {
  const transcriber = await endpoint(() => {})
  const input = { file: fileOf(wav()), fileType: 'wav' }
  expect((await refusal(transcribe(input, transcriber, AbortSignal.timeout(200))))[0]).toBe('too-slow')
})
