import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Reply,
  runUpload,
  type Transport,
  type UploadTarget,
} from '../../../src/console/islands/upload/upload-run.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

let console: Console
let curator: Browser
beforeAll(async () => {
  console = await startConsole()
  curator = await console.browser('curator')
})
afterAll(() => console.close())

const mb = 1024 * 1024

/** The API without a network. `failing` answers in place of the server, once for each that it gives. */
function transport(failing: (path: string, range: string) => Reply | undefined = () => undefined) {
  const sent: string[] = []
  const waits: number[] = []
  const inject = async (method: 'GET' | 'POST' | 'PATCH', url: string, headers: object, payload?: Buffer | string) => {
    const {
      statusCode,
      body,
      headers: told,
    } = await console.app.inject({
      ...{ method, url, headers: { ...curator.headers, ...headers } },
      ...(payload === undefined ? {} : { payload }),
    })
    return { status: statusCode, body: JSON.parse(body), retryAfter: String(told['retry-after'] ?? '') }
  }
  const made: Transport = {
    call: async (method, path, body) =>
      failing(path, '') ??
      inject(
        method === 'GET' ? 'GET' : 'POST',
        path,
        body === undefined ? {} : { 'content-type': 'application/json' },
        body === undefined ? undefined : JSON.stringify(body),
      ),
    async sendBlob(path, range, blob) {
      sent.push(range)
      const failure = failing(path, range)
      if (failure !== undefined) return failure
      const headers = { 'content-type': 'application/octet-stream', 'content-range': range }
      return inject('PATCH', path, headers, Buffer.from(await blob.arrayBuffer()))
    },
    hash: async (file) =>
      file.size > mb
        ? undefined
        : createHash('sha256')
            .update(Buffer.from(await file.arrayBuffer()))
            .digest('hex'),
    wait: async (milliseconds) => void waits.push(milliseconds),
  }
  return { transport: made, sent, waits }
}

function target(changes: Partial<UploadTarget> = {}): UploadTarget {
  return { kb: 'handbook', path: '/', replace: false, force: false, uploadId: undefined, ...changes }
}

function newFile(name: string, size: number): File {
  return new File([randomBytes(size)], name)
}

async function upload(
  file: File,
  to: UploadTarget,
  { transport: by }: { transport: Transport },
  signal = new AbortController().signal,
) {
  return runUpload(file, to, { transport: by, show: () => {}, signal })
}

async function bytesOf(id: string): Promise<Buffer> {
  const { rawPayload } = await console.app.inject({ url: `/api/v1/documents/${id}/content`, headers: curator.headers })
  return rawPayload
}

test('a file of several chunks arrives whole', async () => {
  const file = newFile('talk.wav', 9 * mb)
  const way = transport()
  const end = await upload(file, target(), way)
  expect(way.sent).toEqual([`bytes 0-${8 * mb - 1}/${9 * mb}`, `bytes ${8 * mb}-${9 * mb - 1}/${9 * mb}`])
  if (end.kind !== 'done') throw new Error(JSON.stringify(end))
  expect((await bytesOf(end.id)).equals(Buffer.from(await file.arrayBuffer()))).toBe(true)
})

test('what is cut off is tried again, from where the server says', async () => {
  const file = newFile('cut.wav', 9 * mb)
  let failures = 3
  const lost = { status: 0, body: undefined, retryAfter: null }
  const way = transport((path) => (path.endsWith('/chunk') && failures-- > 0 ? lost : undefined))
  expect(await upload(file, target(), way)).toMatchObject({ kind: 'done' })
  expect(way.waits).toHaveLength(3)
  expect(way.sent.at(-1)).toBe(`bytes ${8 * mb}-${9 * mb - 1}/${9 * mb}`)
})

test('a server that is never reached ends it after a while; it can be resumed', async () => {
  const way = transport(() => ({ status: 0, body: undefined, retryAfter: null }))
  expect(await upload(newFile('a.wav', 10), target(), way)).toMatchObject({ kind: 'stop', canResume: true })
  expect(way.waits.length).toBeGreaterThan(5)
})

test('a file that is chosen again after a reload goes on where it was, once the server has compared', async () => {
  const file = newFile('again.wav', 9 * mb)
  const stopping = new AbortController()
  const to = target()
  const cut = transport((_, range) => {
    if (range.startsWith('bytes 8388608')) stopping.abort()
    return stopping.signal.aborted ? { status: 0, body: undefined, retryAfter: null } : undefined
  })
  expect(await upload(file, to, cut, stopping.signal)).toEqual({ kind: 'paused' })
  const resumed = transport()
  const end = await upload(file, target({ uploadId: to.uploadId }), resumed)
  expect(resumed.sent).toEqual([`bytes 0-65535/${9 * mb}`, `bytes ${8 * mb - 65_536}-${9 * mb - 1}/${9 * mb}`])
  if (end.kind !== 'done') throw new Error(JSON.stringify(end))
  expect((await bytesOf(end.id)).equals(Buffer.from(await file.arrayBuffer()))).toBe(true)
})

test.each([0, 8 * mb - 1])('another file of the same name and size is told apart by its byte %i', async (at) => {
  const bytes = randomBytes(9 * mb)
  const to = target()
  const stopping = new AbortController()
  const cut = transport((_, range) => {
    if (range.startsWith('bytes 8388608')) stopping.abort()
    return stopping.signal.aborted ? { status: 0, body: undefined, retryAfter: null } : undefined
  })
  await upload(new File([bytes], 'other.wav'), to, cut, stopping.signal)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  const end = await upload(new File([bytes], 'other.wav'), target({ uploadId: to.uploadId }), transport())
  expect(end).toMatchObject({ kind: 'stop', canResume: false, message: expect.stringContaining('not the file') })
})

test('a small file that is there already is not sent; it may be all the same', async () => {
  const file = newFile('same.txt', 100)
  const first = await upload(file, target(), transport())
  const way = transport()
  const to = target()
  expect(await upload(file, to, way)).toEqual({
    ...{ kind: 'duplicate', filename: 'same.txt', path: '/' },
    documentId: first.kind === 'done' ? first.id : '',
  })
  expect(way.sent).toEqual([])
  expect(await upload(file, { ...to, force: true }, transport())).toMatchObject({ kind: 'done' })
})

test('a large file that is there already is found at its end, and is not sent again', async () => {
  const file = newFile('large.wav', 2 * mb)
  await upload(file, target(), transport())
  const to = target()
  expect(await upload(file, to, transport())).toMatchObject({ kind: 'duplicate', filename: 'large.wav' })
  const way = transport()
  expect(await upload(file, { ...to, force: true, replace: true }, way)).toMatchObject({ kind: 'done' })
  expect(way.sent).toHaveLength(1)
})

test('what the server refuses is said in its words', async () => {
  const end = await upload(newFile('a'.repeat(300), 3), target(), transport())
  expect(end).toMatchObject({ kind: 'stop', canResume: false })
  const gone = await upload(
    newFile('a.txt', 3),
    target({ uploadId: '019b9c9b-3000-7a3c-b1d2-4e5f6a7b8c9d' }),
    transport(),
  )
  expect(gone).toMatchObject({ kind: 'stop', message: 'The upload is gone. Begin anew.' })
})
