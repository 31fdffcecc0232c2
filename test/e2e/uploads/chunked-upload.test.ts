import { createHash } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { type Product, startProduct } from '../support.ts'
import { storedBlobs } from './stored-blobs.ts'
import { begin, beginOk, finalize, hash, kb, send, status, text } from './upload-chunks.ts'

const fileOf = ({ dataDir }: Product, id: string) => join(dataDir, 'tmp/uploads', id)

test('a file comes in chunks, and becomes a Source', async () => {
  const product = await startProduct()
  const metadata = { tags: ['policy'], connector: 'sync' }
  const ticket = await begin(product, { contentHash: hash.toUpperCase(), path: 'policies', metadata })
  expect(ticket).toMatchObject({ status: 201, body: { chunkSize: 8 * 1024 * 1024 } })
  const hours = (Date.parse(String(ticket.body.expiresAt)) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(23.9)
  const id = String(ticket.body.uploadId)
  expect((await send(product, id, 0, text.subarray(0, 20))).body).toEqual({ uploadId: id, bytesReceived: 20 })
  expect((await status(product, id)).body).toEqual({
    ...{ uploadId: id, filename: 'vip.md', fileSize: text.length, bytesReceived: 20, status: 'open' },
    expiresAt: ticket.body.expiresAt,
  })
  expect(await finalize(product, id)).toMatchObject({ status: 422, body: { error: 'incomplete', bytesReceived: 20 } })
  expect((await send(product, id, 20, text.subarray(20))).body.bytesReceived).toBe(text.length)
  const made = await finalize(product, id)
  const source = {
    filename: 'vip.md',
    path: '/policies',
    contentHash: hash,
    tags: 'policy',
    status: 'ready',
    fileSize: text.length,
  }
  expect(made).toMatchObject({ status: 201, body: source })
  expect(existsSync(fileOf(product, id))).toBe(false)
  expect(await finalize(product, id)).toMatchObject({ status: 201, body: made.body })
  expect((await status(product, id)).body).toMatchObject({ status: 'finalized', bytesReceived: text.length })
  expect(await send(product, id, 0, text.subarray(0, 5))).toMatchObject({
    status: 409,
    body: { error: 'upload_finalized' },
  })
  const content = await product.request('GET', `/api/v1/documents/${made.body.id}/content`, {
    as: product.tokens.curator,
  })
  expect(content.text).toBe(String(text))
})

test('a chunk that is sent again must be the same; one may reach beyond what came', async () => {
  const product = await startProduct()
  const id = await beginOk(product)
  await send(product, id, 0, text.subarray(0, 20))
  expect(await send(product, id, 5, text.subarray(5, 15))).toMatchObject({ status: 200, body: { bytesReceived: 20 } })
  expect(await send(product, id, 10, text.subarray(10, 30))).toMatchObject({ status: 200, body: { bytesReceived: 30 } })
  const other = await send(product, id, 25, Buffer.from('!!!!!!!!!!!!!!'))
  expect(other).toMatchObject({ status: 409, body: { error: 'chunk_differs', bytesReceived: 30 } })
  expect(await send(product, id, 31, text.subarray(31))).toMatchObject({
    status: 409,
    body: { error: 'offset_mismatch', bytesReceived: 30 },
  })
  await send(product, id, 30, text.subarray(30))
  expect(await finalize(product, id)).toMatchObject({ status: 201, body: { contentHash: hash } })
})

test('a chunk that does not fit is refused', async () => {
  const product = await startProduct()
  const id = await beginOk(product)
  const size = text.length
  for (const [range, code] of [
    [`bytes 0-9/${size + 1}`, 416],
    [`bytes 9-0/${size}`, 416],
    [`bytes ${size - 5}-${size + 4}/${size}`, 416],
    ['bytes 0-9/*', 416],
    ['octets 0-9/9', 416],
    [`bytes 0-8/${size}`, 400],
  ] as const) {
    expect([range, (await send(product, id, 0, text.subarray(0, 10), range)).status]).toEqual([range, code])
  }
  const headers = { 'content-type': 'application/octet-stream' }
  const url = `/api/v1/uploads/${id}/chunk`
  expect(
    (await product.request('PATCH', url, { as: product.tokens.app, headers, body: Uint8Array.of(1) })).status,
  ).toBe(400)
  const large = await beginOk(product, { fileSize: 20_000_000 })
  const bytes = Buffer.alloc(8 * 1024 * 1024 + 1)
  expect((await send(product, large, 0, bytes, `bytes 0-${bytes.length - 1}/20000000`)).status).toBe(413)
  expect((await send(product, large, 0, bytes.subarray(1), `bytes 0-${bytes.length - 2}/20000000`)).status).toBe(200)
})

test('a chunk that is shorter than its range keeps what came', async () => {
  const product = await startProduct()
  const id = await beginOk(product)
  expect((await send(product, id, 0, text.subarray(0, 10), `bytes 0-19/${text.length}`)).status).toBe(400)
  expect((await status(product, id)).body.bytesReceived).toBe(10)
  await send(product, id, 10, text.subarray(10))
  expect(await finalize(product, id)).toMatchObject({ status: 201, body: { contentHash: hash } })
})

test('a connection that is cut keeps what came', async () => {
  const product = await startProduct()
  const id = await beginOk(product)
  const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `PATCH /api/v1/uploads/${id}/chunk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${product.tokens.app}\r\n` +
      `Content-Range: bytes 0-${text.length - 1}/${text.length}\r\nContent-Length: ${text.length}\r\n\r\n${text.subarray(0, 17)}`,
  )
  const { uploads, incoming } = product.ctx.directory
  // Before, a reset takes away what the server has not read.
  const sizesIn = (folder: string) => readdirSync(folder).map((name) => statSync(join(folder, name)).size)
  await eventually(() => expect([uploads, incoming].flatMap(sizesIn)).toEqual([17]))
  socket.resetAndDestroy()
  await eventually(async () => expect((await status(product, id)).body.bytesReceived).toBe(17))
  await send(product, id, 17, text.subarray(17))
  expect(await finalize(product, id)).toMatchObject({ status: 201, body: { contentHash: hash } })
})

test('chunks that come at once go one after the other', async () => {
  const product = await startProduct()
  const id = await beginOk(product)
  const answers = await Promise.all([1, 2, 3, 4].map(() => send(product, id, 0, text)))
  expect(answers.map(({ status, body }) => [status, body.bytesReceived])).toEqual(Array(4).fill([200, text.length]))
  const made = await Promise.all([finalize(product, id), finalize(product, id)])
  expect(made.map(({ status, body }) => [status, body.id])).toEqual(Array(2).fill([201, id]))
  expect(await product.ctx.sources.list(product.kbId, { limit: 10 })).toHaveLength(1)
})

test('other bytes than those that were announced are no Source', async () => {
  const product = await startProduct()
  const id = await beginOk(product, { contentHash: createHash('sha256').update('other').digest('hex') })
  await send(product, id, 0, text)
  const answer = await finalize(product, id)
  expect(answer).toMatchObject({ status: 422, body: { error: 'hash_mismatch', bytesReceived: text.length } })
  expect(await product.ctx.sources.list(product.kbId, { limit: 10 })).toEqual([])
  expect(await storedBlobs(product.ctx)).toEqual(new Set())
})

test('bytes that are there are refused at the beginning, or at the end, unless it is forced', async () => {
  const product = await startProduct()
  const first = await beginOk(product)
  const second = await beginOk(product)
  await send(product, first, 0, text)
  await send(product, second, 0, text)
  await finalize(product, first)
  const duplicate = { status: 409, body: { code: 'duplicate_source', existingDocumentId: first } }
  expect(await begin(product, { contentHash: hash })).toMatchObject(duplicate)
  expect(await finalize(product, second)).toMatchObject(duplicate)
  expect(await finalize(product, second, '?force=true')).toMatchObject({ status: 201, body: { seq: 2 } })
  const forced = await beginOk(product, { contentHash: hash }, '?force=true')
  await send(product, forced, 0, text)
  expect(await finalize(product, forced)).toMatchObject({ status: 201, body: { seq: 3 } })
})

test('an upload is a Source of its own, unless it asks to replace, at the beginning or at the end', async () => {
  const product = await startProduct()
  const editionOf = async (index: number, atBegin: string, atEnd: string) => {
    const bytes = Buffer.from(`${index}${text}`.slice(0, text.length))
    const id = await beginOk(product, {}, atBegin)
    await send(product, id, 0, bytes)
    expect((await finalize(product, id, atEnd)).status).toBe(201)
    return [(await product.ctx.sources.get(id))?.editionOf, id]
  }
  const [, first] = await editionOf(1, '', '')
  const [own, second] = await editionOf(2, '?replace=false', '')
  expect(own).toBe(second)
  expect((await editionOf(3, '?replace=true', ''))[0]).toBe(second)
  expect((await editionOf(4, '', '?replace=true'))[0]).toBe(second)
  expect(first).not.toBe(second)
  expect((await begin(product, {}, '?replace=1')).status).toBe(400)
})

test('a bad beginning is refused', async () => {
  const product = await startProduct()
  for (const [input, code] of [
    [{ filename: 'a.exe' }, 400],
    [{ filename: '../a.md' }, 400],
    [{ fileSize: -1 }, 400],
    [{ fileSize: 0 }, 400],
    [{ fileSize: '5' }, 400],
    [{ fileSize: 2 * 1024 ** 3 + 1 }, 413],
    [{ contentHash: 'abc' }, 400],
    [{ path: '..' }, 400],
    [{ metadata: '[]' }, 400],
  ] as const) {
    expect([input, (await begin(product, input)).status]).toEqual([input, code])
  }
  expect((await begin(product, { fileSize: 2 * 1024 ** 3 })).status).toBe(201)
})

test('an abandoned upload is gone, with its bytes', async () => {
  const product = await startProduct()
  const { request, tokens } = product
  const id = await beginOk(product)
  await send(product, id, 0, text)
  expect((await request('DELETE', `/api/v1/uploads/${id}`, { as: tokens.app })).status).toBe(204)
  expect(existsSync(fileOf(product, id))).toBe(false)
  expect((await status(product, id)).status).toBe(404)
  expect((await request('DELETE', `/api/v1/uploads/${id}`, { as: tokens.app })).status).toBe(404)
})

test('another tenant finds no upload here', async () => {
  const product = await startProduct()
  const { request, newKey } = product
  const id = await beginOk(product)
  const as = await newKey('rival', 'curator')
  const url = `/api/v1/uploads/${id}`
  const headers = { 'content-range': `bytes 0-0/${text.length}`, 'content-type': 'application/octet-stream' }
  expect((await request('PATCH', `${url}/chunk`, { as, headers, body: Uint8Array.of(1) })).status).toBe(404)
  expect((await request('POST', `${url}/finalize`, { as })).status).toBe(404)
  expect((await request('GET', url, { as })).status).toBe(404)
  expect((await request('DELETE', url, { as })).status).toBe(404)
})

test('a tenant has ten uploads open at most', async () => {
  const product = await startProduct()
  const ids = await Promise.all(Array.from({ length: 10 }, () => beginOk(product)))
  const refused = await begin(product)
  expect([refused.status, refused.body.error]).toEqual([429, 'too_many_uploads'])
  await product.request('DELETE', `/api/v1/uploads/${ids[0]}`, { as: product.tokens.app })
  expect((await begin(product)).status).toBe(201)
})

test('an idempotency key makes one upload of two beginnings', async () => {
  const { request, tokens } = await startProduct()
  const url = `${kb}/documents/upload/init`
  const first = { as: tokens.app, headers: { 'idempotency-key': 'once' }, body: { filename: 'a.md', fileSize: 1 } }
  const answers = [await request('POST', url, first), await request('POST', url, first)]
  expect(answers[1]?.body).toEqual(answers[0]?.body)
  expect((await request('POST', url, { ...first, body: { filename: 'b.md', fileSize: 1 } })).status).toBe(422)
})
