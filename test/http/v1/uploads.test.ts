import { expect, test } from 'vitest'
import { maxFormBytes } from '../../../src/http/request/upload-form.ts'
import { eventually } from '../../support/eventually.ts'
import { exchange, lastAnswer, listen, openConnection, type TestServer, testServer } from '../support/test-server.ts'

const upload = '/api/v1/knowledge-bases/handbook/documents/upload'
const forced = `${upload}?force=true`
const form = { 'content-type': 'multipart/form-data; boundary=b' }

function head(method: string, path: string, headers: Record<string, string | number>): string {
  const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

function part(name: string, value: string, more = ''): string {
  return `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
}
const filePart = part('file', '# VIP\n', '; filename="vip.md"\r\nContent-Type: text/markdown')

/** An upload in chunks that has begun, and where its chunks go. */
async function begun({ request }: TestServer): Promise<{ uploadId: string; path: string; chunk: string }> {
  const body = { filename: 'vip.md', fileSize: 10 }
  const { json } = await request('POST', `${upload}/init`, { as: 'app', body })
  const uploadId = String(Object(json).uploadId)
  return { uploadId, path: `/api/v1/uploads/${uploadId}`, chunk: `/api/v1/uploads/${uploadId}/chunk` }
}

async function countSources({ request }: TestServer): Promise<number> {
  const url = '/api/v1/knowledge-bases/handbook/documents?limit=100'
  return Object((await request('GET', url, { as: 'curator' })).json).documents.length
}

test('what a request says of itself is judged before its body is read', async () => {
  const server = await testServer()
  const { uploadId, path, chunk } = await begun(server)
  const before = await countSources(server)
  const port = await listen(server.app)
  const length = { 'content-length': maxFormBytes }
  const app1 = { authorization: 'Bearer app' }
  const refusals = [
    ['POST', upload, { ...form, ...length }, 401],
    ['POST', upload, { ...form, ...length, authorization: 'Bearer reader' }, 403],
    ['POST', upload.replace('handbook', 'other'), { ...form, ...length, ...app1 }, 404],
    ['POST', upload, { ...form, ...app1, 'content-length': maxFormBytes + 1 }, 413],
    ['POST', `${upload}?force=1`, { ...form, ...length, ...app1 }, 400],
    ['PATCH', chunk, { 'content-length': 5 }, 401],
    ['PATCH', chunk, { 'content-length': 8 * 1024 * 1024 + 1, ...app1 }, 413],
    [
      'PATCH',
      chunk.replace(uploadId, crypto.randomUUID()),
      { 'content-length': 5, ...app1, 'content-range': 'bytes 0-4/5' },
      404,
    ],
    ['PATCH', chunk.replace(uploadId, crypto.randomUUID()), { 'content-length': 5, ...app1 }, 404],
    ['PATCH', chunk, { 'content-length': 5, ...app1 }, 400],
    ['PATCH', chunk, { 'content-length': 5, ...app1, 'content-range': 'bytes=0-4/5' }, 416],
  ] as const
  const answers = refusals.map(async ([method, path, headers]) =>
    lastAnswer(await exchange(port, head(method, path, headers))),
  )
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(refusals.map(([, , , status]) => status))
  expect(await countSources(server)).toBe(before)
  expect((await server.request('GET', path, { as: 'app' })).json).toMatchObject({ bytesReceived: 0 })
})

test('a client that waits for leave to send gets an answer instead, where it is refused', async () => {
  const { app } = await testServer()
  const port = await listen(app)
  const headers = { ...form, 'content-length': 100, expect: '100-continue' }
  expect(await exchange(port, head('POST', upload, headers))).toMatch(/^HTTP\/1.1 401 /)
  const body = `${filePart}--b--\r\n`
  const { socket, received } = openConnection(port)
  socket.once('data', () => socket.write(body))
  const allowed = { ...form, authorization: 'Bearer app', 'content-length': body.length, connection: 'close' }
  socket.write(head('POST', forced, { ...allowed, expect: '100-continue' }))
  const answers = await received
  expect(answers).toMatch(/^HTTP\/1.1 100 /)
  expect(lastAnswer(answers).status).toBe(201)
})

test('the parts of a form are kept as they are, and others are ignored', async () => {
  const { request } = await testServer()
  const metadata = part('metadata', '{"a":1}', '\r\nContent-Type: application/json')
  const body = `${part('path', '/größe')}${part('other', 'x')}${filePart}${metadata}--b--\r\n`
  const { status, json } = await request('POST', forced, { as: 'app', headers: form, body })
  expect(status).toBe(201)
  const read = (suffix = '') => request('GET', `/api/v1/documents/${Object(json).id}${suffix}`, { as: 'curator' })
  expect((await read()).json).toMatchObject({ filename: 'vip.md', path: '/größe', metadata: '{"a":1}' })
  expect((await read('/content')).text).toBe('# VIP\n')
})

test('a form that is broken is refused, and the server goes on', async () => {
  const { request } = await testServer()
  const send = async (body: string, headers: Record<string, string> = form) => {
    const { status, json } = await request('POST', forced, { as: 'app', headers, body })
    return [status, Object(json).error]
  }
  expect(await send(`${filePart}${filePart}--b--\r\n`)).toEqual([400, 'malformed_request'])
  expect(await send(filePart)).toEqual([400, 'malformed_request'])
  expect(await send(filePart.slice(0, -4))).toEqual([400, 'malformed_request'])
  expect(await send(`${part('path', '/')}--b--\r\n`)).toEqual([400, 'No file provided'])
  expect(await send(`${part('file', 'text')}--b--\r\n`)).toEqual([400, 'No file provided'])
  expect(await send(`${part('document', 'x', '; filename="a.md"')}--b--\r\n`)).toEqual([
    400,
    'No file provided: its part is to be named "file"',
  ])
  expect(await send(`${part('__proto__', 'x')}${filePart}--b--\r\n`)).toEqual([400, 'malformed_request'])
  expect(await send(filePart, { 'content-type': 'multipart/form-data' })).toEqual([400, 'malformed_request'])
  expect(await send('{}', { 'content-type': 'application/json' })).toEqual([415, 'unsupported_media_type'])
  expect(await send('x', { 'content-type': 'text/plain' })).toEqual([415, 'unsupported_media_type'])
  expect(await send(`${filePart}--b--\r\n`)).toEqual([201, undefined])
})

test('headers of a part over 16 KB are 431, and are read no further', async () => {
  const server = await testServer()
  const before = await countSources(server)
  const port = await listen(server.app)
  const send = async (length: number, type = form['content-type']) => {
    const long = `\r\nX-A: ${'x'.repeat(length)}`
    const body = `${part('path', '/', long)}${filePart}--b--\r\n`
    const headers = { authorization: 'Bearer app', 'content-type': type, 'content-length': body.length }
    return lastAnswer(await exchange(port, head('POST', forced, { ...headers, connection: 'close' }) + body))
  }
  const refused = { status: 431, body: expect.objectContaining({ error: 'header_too_large' }) }
  expect(await send(100_000)).toEqual(refused)
  expect(await send(17_000, 'multipart/form-data; charset=utf-8; boundary="b"')).toEqual(refused)
  expect(await countSources(server)).toBe(before)
  expect((await send(15_000)).status).toBe(201)
})

test('a form over its bound is 413, although its length was not told and nothing of it is wanted', async () => {
  const server = await testServer()
  const before = await countSources(server)
  const { socket, received } = openConnection(await listen(server.app))
  const headers = { authorization: 'Bearer app', ...form, 'transfer-encoding': 'chunked' }
  socket.write(`${head('POST', upload, headers)}11\r\n--b\r\nX: other\r\n\r\n`)
  const chunk = Buffer.from(`\r\n100000\r\n${'x'.repeat(1024 * 1024)}`)
  const write = () => {
    while (socket.writable && socket.write(chunk));
  }
  socket.on('drain', write)
  write()
  expect(lastAnswer(await received)).toEqual({
    status: 413,
    body: expect.objectContaining({ error: 'payload_too_large' }),
  })
  expect(await countSources(server)).toBe(before)
})

test('a chunk is taken whatever its type is called', async () => {
  const server = await testServer()
  const port = await listen(server.app)
  for (const type of ['application/octet-stream', 'application/json', 'text/plain']) {
    const { uploadId, path, chunk } = await begun(server)
    const headers = { authorization: 'Bearer app', 'content-range': 'bytes 0-4/10', 'content-length': 5 }
    const message = head('PATCH', chunk, { ...headers, 'content-type': type, connection: 'close' })
    const answer = lastAnswer(await exchange(port, `${message}hello`))
    expect(answer).toEqual({ status: 200, body: { uploadId, bytesReceived: 5 } })
    await server.request('DELETE', path, { as: 'app' })
  }
})

test('an upload may take its time as long as it keeps coming', async () => {
  const { app } = await testServer({}, { timeouts: { request: 50, upload: 200 } })
  const port = await listen(app)
  const headers = { authorization: 'Bearer app', ...form, 'content-length': 1_000_000 }
  const { socket, received } = openConnection(port)
  socket.write(head('POST', upload, headers) + filePart.slice(0, -2))
  const writing = setInterval(() => socket.write('a'.repeat(20_000)), 20)
  setTimeout(() => clearInterval(writing), 400)
  expect(lastAnswer(await received).status).toBe(408)
})

test('a client that goes in the midst of its request is no error of the server', async () => {
  const levels: number[] = []
  const note = ({ level, reqId }: { level: number; reqId?: string }) => void (reqId && levels.push(level))
  const log = { level: 'debug', stream: { write: (line: string) => note(JSON.parse(line)) } } as const
  const server = await testServer({}, { log })
  const { chunk } = await begun(server)
  const { socket } = openConnection(await listen(server.app))
  levels.length = 0
  const headers = { authorization: 'Bearer app', 'content-length': 10, 'content-range': 'bytes 0-9/10' }
  socket.write(`${head('PATCH', chunk, headers)}12345`)
  await eventually(() => expect(levels).toHaveLength(1))
  socket.resetAndDestroy()
  await eventually(() => expect(levels.length).toBeGreaterThan(1))
  expect(levels).toEqual([20, 30])
})
