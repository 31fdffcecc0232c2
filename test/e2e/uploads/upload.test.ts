import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { defaultFileTypes } from '../../../src/contract/documents.ts'
import { eventually } from '../../support/eventually.ts'
import { setSettings } from '../settings.ts'
import { type Product, type Send, startProduct } from '../support.ts'
import { storedBlobs } from './stored-blobs.ts'

const kb = '/api/v1/knowledge-bases/handbook'
const mebibyte = 1024 * 1024
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const pdf = '%PDF-1.7\n1 0 obj\n'

type Parts = { file?: string | Uint8Array<ArrayBuffer>; filename?: string; path?: string; metadata?: unknown }

function formOf({ file = '# VIP\n', filename = 'vip.md', path, metadata }: Parts, order = 'file first'): FormData {
  const form = new FormData()
  const addFile = () => form.append('file', new Blob([file]), filename)
  if (order === 'file first') addFile()
  if (path !== undefined) form.append('path', path)
  if (metadata !== undefined)
    form.append('metadata', typeof metadata === 'string' ? metadata : JSON.stringify(metadata))
  if (order !== 'file first') addFile()
  return form
}

function upload(
  { request, tokens }: Product,
  parts: Parts = {},
  { query = '', ...send }: Send & { query?: string } = {},
) {
  return request('POST', `${kb}/documents/upload${query}`, { as: tokens.app, body: formOf(parts), ...send })
}

/** Everything that is received, stored or noted. */
async function leftovers({ ctx, kbId }: Product) {
  const { last } = await ctx.events.range((await ctx.tenants.find('acme'))?.id ?? '')
  return {
    sources: (await ctx.sources.list(kbId, { limit: 100 })).length,
    blobs: (await storedBlobs(ctx)).size,
    incoming: readdirSync(ctx.directory.incoming).length,
    events: last,
  }
}
const nothing = { sources: 0, blobs: 0, incoming: 0, events: 0 }

test('a text file is ready to be ingested, and told of', async () => {
  const product = await startProduct()
  const metadata = { connector: 'wiki-sync', sourceUrl: 'https://example.com/vip', tags: ['policy', 'vip'], own: 1 }
  const answer = await upload(product, { path: '/policies/', metadata })
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    knowledgeBaseId: product.kbId,
    kind: 'source',
    filename: 'vip.md',
    path: '/policies',
    fileType: 'md',
    fileSize: 6,
    status: 'ready',
    errorMessage: null,
    seq: 1,
    contentHash: sha256('# VIP\n'),
    tags: 'policy,vip',
    createdAt: expect.stringMatching(/Z$/),
  })
  const detail = await product.request('GET', `/api/v1/documents/${answer.body.id}`, { as: product.tokens.curator })
  expect(detail.body).toEqual({
    ...answer.body,
    connector: 'wiki-sync',
    sourceUrl: 'https://example.com/vip',
    metadata: JSON.stringify(metadata),
    archivedAt: null,
  })
  const tenantId = (await product.ctx.tenants.find('acme'))?.id ?? ''
  expect(await product.ctx.events.after(tenantId, 0, 10)).toMatchObject([
    {
      kind: 'source.uploaded',
      kbId: product.kbId,
      isCuratorOnly: false,
      data: { documentId: answer.body.id, status: 'ready' },
    },
  ])
  expect((await product.ctx.jobs.claim('me', { now: product.ctx.now(), leaseMs: 1000 }))?.documentId).toBe(
    answer.body.id,
  )
})

test('the parts of a form may come in any order, and a name keeps its letters', async () => {
  const product = await startProduct()
  const body = formOf(
    { file: pdf, filename: 'Größe “1” 日本.PDF', path: 'a/b', metadata: { tags: ['x'] } },
    'file last',
  )
  const answer = await upload(product, {}, { body })
  expect(answer.status).toBe(201)
  expect(answer.body).toMatchObject({
    filename: 'Größe “1” 日本.PDF',
    path: '/a/b',
    tags: 'x',
    fileType: 'pdf',
    status: 'pending',
  })
})

test('an upload without words has its defaults', async () => {
  const product = await startProduct()
  const { body } = await upload(product)
  const { body: detail } = await product.request('GET', `/api/v1/documents/${body.id}`, { as: product.tokens.curator })
  expect(detail).toMatchObject({ path: '/', tags: null, connector: 'upload', sourceUrl: null, metadata: null })
})

test('the same bytes are taken once in a knowledge base, also of two uploads at once, unless it is forced', async () => {
  const product = await startProduct()
  const both = await Promise.all([upload(product), upload(product, { filename: 'copy.md' })])
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  const [first] = both.filter(({ status }) => status === 201)
  const [second] = both.filter(({ status }) => status === 409)
  expect(second?.body).toEqual({
    error: expect.stringContaining(String(first?.body.filename)),
    code: 'duplicate_source',
    existingDocumentId: first?.body.id,
    existingFilename: first?.body.filename,
    existingPath: '/',
    existingCreatedAt: first?.body.createdAt,
    hint: expect.stringContaining('?force=true'),
  })
  expect(await leftovers(product)).toEqual({ sources: 1, blobs: 1, incoming: 0, events: 1 })
  const forced = await upload(product, {}, { query: '?force=true' })
  expect(forced).toMatchObject({ status: 201, body: { seq: 2 } })
  expect(await leftovers(product)).toEqual({ sources: 2, blobs: 1, incoming: 0, events: 2 })
  expect((await upload(product, {}, { query: '?force=false' })).status).toBe(409)
})

test('an archived Source stays, but its bytes may come again', async () => {
  const product = await startProduct()
  const { request, tokens } = product
  const { body } = await upload(product)
  const url = `/api/v1/documents/${body.id}`
  expect((await request('DELETE', url, { as: tokens.app })).status).toBe(403)
  expect((await request('DELETE', url, { as: tokens.curator })).status).toBe(204)
  expect((await request('DELETE', url, { as: tokens.curator })).status).toBe(204)
  expect((await request('GET', url, { as: tokens.curator })).body.archivedAt).toMatch(/Z$/)
  expect((await request('GET', `${url}/content`, { as: tokens.curator })).text).toBe('# VIP\n')
  expect((await request('GET', `${kb}/documents`, { as: tokens.curator })).body.documents).toEqual([])
  expect(await product.ctx.jobs.claim('me', { now: product.ctx.now(), leaseMs: 1000 })).toBeUndefined()
  expect(await upload(product)).toMatchObject({ status: 201, body: { seq: 2 } })
})

test('a Source that is processed is not archived', async () => {
  const product = await startProduct()
  const { body } = await upload(product)
  await product.ctx.sources.change(String(body.id), ['ready'], { status: 'processing' })
  const answer = await product.request('DELETE', `/api/v1/documents/${body.id}`, { as: product.tokens.curator })
  expect(answer).toMatchObject({ status: 409, body: { error: 'already_processing' } })
})

test('another tenant has nothing here, and bytes of its own', async () => {
  const product = await startProduct()
  const { request, newKey } = product
  const { body } = await upload(product)
  const stranger = await newKey('rival', 'curator')
  const urls = ['', '/content'].map((suffix) => ['GET', `/api/v1/documents/${body.id}${suffix}`] as const)
  const ingest = ['POST', `/api/v1/documents/${body.id}/ingest`] as const
  for (const [method, url] of [...urls, ['DELETE', `/api/v1/documents/${body.id}`] as const, ingest]) {
    const answer = await request(method, url, { as: stranger })
    const absent = await request(method, url.replace(String(body.id), crypto.randomUUID()), { as: stranger })
    expect([answer.status, answer.text]).toEqual([404, absent.text])
  }
  expect((await request('GET', `${kb}/documents`, { as: stranger })).status).toBe(404)
  expect((await upload(product, {}, { as: stranger })).status).toBe(404)
})

test('a form without a file, or with one of another type, is told so in words', async () => {
  const product = await startProduct()
  const empty = formOf({ path: '/' })
  empty.delete('file')
  for (const [form, error, code] of [
    [empty, 'No file provided', 'no_file'],
    [formOf({ filename: 'setup.EXE' }), 'File type .exe not allowed', 'file_type_not_allowed'],
    [formOf({ filename: 'README' }), 'File type . not allowed', 'file_type_not_allowed'],
  ] as const) {
    const answer = await upload(product, {}, { body: form })
    expect([answer.status, answer.body]).toMatchObject([400, { error, code }])
    if (code === 'no_file') continue
    expect(answer.body).toHaveProperty('allowedTypes', defaultFileTypes.toSorted())
    expect(answer.body).toHaveProperty('message', expect.stringContaining('aac, csv, doc, docx'))
  }
  expect(await leftovers(product)).toEqual(nothing)
})

test('bad parts are refused, by field', async () => {
  const product = await startProduct()
  for (const [field, parts] of [
    ['file', { filename: '../vip.md' }],
    ['file', { filename: 'a\\vip.md' }],
    ['file', { filename: 'a\0.md' }],
    ['file', { filename: `${'n'.repeat(5000)}.md` }],
    ['file', { filename: '\u202edm.md' }],
    ['path', { path: '../..' }],
    ['path', { path: '/a//b' }],
    ['path', { path: 'a\0b' }],
    ['path', { path: 'x/'.repeat(40) }],
    ['path', { path: 'p'.repeat(70_000) }],
    ['metadata', { metadata: '[1]' }],
    ['metadata', { metadata: '{' }],
    ['metadata', { metadata: '{"__proto__": {}}' }],
    ['metadata', { metadata: { connector: 1 } }],
    ['metadata', { metadata: { text: 'm'.repeat(17_000) } }],
  ] as [string, Parts][]) {
    const answer = await upload(product, parts)
    expect(
      [answer.status, Object.keys(Object(answer.body.error).fieldErrors)],
      JSON.stringify(parts).slice(0, 100),
    ).toEqual([400, [field]])
    expect(await leftovers(product)).toEqual(nothing)
  }
})

test.each(['force', 'replace'])('%s is true or false, and given once', async (name) => {
  const product = await startProduct()
  for (const query of [`?${name}=1`, `?${name}=true&${name}=true`, `?${name}`]) {
    expect([query, (await upload(product, {}, { query })).status]).toEqual([query, 400])
  }
  expect(await leftovers(product)).toEqual(nothing)
})

test('a field that is too long is refused, whatever its name', async () => {
  const product = await startProduct()
  for (const name of ['path', 'metadata', 'other']) {
    const form = formOf({})
    form.append(name, 'x'.repeat(70_000))
    const answer = await upload(product, {}, { body: form })
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.objectContaining({ fieldErrors: { [name]: ['must be at most 64 KB'] } }),
    ])
  }
  expect(await leftovers(product)).toEqual(nothing)
})

test('a form with too many parts is refused', async () => {
  const product = await startProduct()
  const changes: ((form: FormData) => void)[] = [
    (form) => form.append('file', new Blob(['b']), 'b.md'),
    (form) => form.append('path', '/b'),
    (form) => {
      for (const name of 'abcdefghijkl') form.append(name, '')
    },
  ]
  for (const change of changes) {
    const form = formOf({ path: '/' })
    change(form)
    expect((await upload(product, {}, { body: form })).status).toBe(400)
    expect(await leftovers(product)).toEqual(nothing)
  }
})

test('100 MB are taken, and one byte more is not, of which nothing is left', async () => {
  const product = await startProduct()
  const exact = Buffer.alloc(100 * mebibyte, pdf)
  const taken = await upload(product, { file: exact, filename: 'large.pdf' })
  expect(taken).toMatchObject({ status: 201, body: { fileSize: 100 * mebibyte, contentHash: sha256(exact) } })
  const refused = await upload(product, { file: Buffer.alloc(100 * mebibyte + 1, pdf), filename: 'larger.pdf' })
  expect(refused).toMatchObject({ status: 413, body: { error: 'payload_too_large' } })
  expect(await leftovers(product)).toEqual({ sources: 1, blobs: 1, incoming: 0, events: 1 })
})

test('an idempotency key makes one Source of two uploads', async () => {
  const product = await startProduct()
  const headers = { 'idempotency-key': 'once' }
  const first = await upload(product, {}, { headers })
  const again = await upload(product, {}, { headers })
  expect(again.body).toEqual(first.body)
  expect((await upload(product, { file: 'other' }, { headers })).status).toBe(422)
  expect((await leftovers(product)).sources).toBe(1)
})

test('the Sources of a knowledge base are listed by pages, the newest first', async () => {
  const product = await startProduct()
  const { request, tokens } = product
  for (const number of [1, 2, 3]) await upload(product, { file: `${number}`, filename: `${number}.md` })
  await upload(product, { filename: 'old.doc' })
  const list = async (query = '') => (await request('GET', `${kb}/documents${query}`, { as: tokens.curator })).body
  const names = (body: Record<string, unknown>) =>
    (body.documents as { filename: string }[]).map(({ filename }) => filename)
  expect(names(await list())).toEqual(['old.doc', '3.md', '2.md', '1.md'])
  const first = await list('?limit=3')
  expect(names(first)).toEqual(['old.doc', '3.md', '2.md'])
  const second = await list(`?limit=3&cursor=${first.nextCursor}`)
  expect([names(second), second.nextCursor]).toEqual([['1.md'], null])
  expect(names(await list('?status=pending'))).toEqual(['old.doc'])
  expect((await request('GET', `${kb}/documents?cursor=x`, { as: tokens.curator })).status).toBe(400)
  expect((await request('GET', `${kb}/documents`, { as: tokens.app })).status).toBe(403)
})

test('a form whose client goes away leaves nothing', async () => {
  const product = await startProduct()
  for (const end of ['destroy', 'resetAndDestroy'] as const) {
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST ${kb}/documents/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${product.tokens.app}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n' +
        `--b\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n${'a'.repeat(100_000)}`,
    )
    await eventually(async () => expect((await leftovers(product)).incoming).toBe(1))
    socket[end]()
    await eventually(async () => expect(await leftovers(product)).toEqual(nothing))
  }
})

test('a form that is cut off, empty or without its boundary is refused', async () => {
  const product = await startProduct()
  for (const [body, boundary] of [
    ['--b\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\nabc', '; boundary=b'],
    ['--b\r\n', ''],
    ['', '; boundary=b'],
    ['--c\r\n\r\nx\r\n--c--\r\n', '; boundary=b'],
  ] as const) {
    const headers = { 'content-type': `multipart/form-data${boundary}` }
    expect([body, (await upload(product, {}, { body, headers })).status]).toEqual([body, 400])
    expect(await leftovers(product)).toEqual(nothing)
  }
})

test('kb.yaml may allow more types of files', async () => {
  const product = await startProduct()
  const letter = { filename: 'letter.eml', file: 'From: ann@example.org\r\n\r\nThe crane is sound.' }
  const refused = await upload(product, letter)
  expect([refused.status, refused.body]).toMatchObject([
    400,
    { error: 'File type .eml not allowed', message: expect.stringContaining('sources.types in kb.yaml') },
  ])
  await setSettings(product, 'types: []', 'types: [eml]')
  const taken = await eventually(async () => {
    const answer = await upload(product, letter)
    expect(answer.status).toBe(201)
    return answer
  })
  expect(taken.body).toMatchObject({ fileType: 'eml', status: 'pending' })
})
