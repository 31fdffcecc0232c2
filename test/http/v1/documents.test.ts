import { expect, test } from 'vitest'
import { SourceAnswer } from '../../../src/contract/documents.ts'
import { type TestServer, testServer } from '../support/test-server.ts'

const bytes = '%PDF-1\n'
const unknown = '/api/v1/documents/019b9c9b-2f10-7a3c-b1d2-000000000000'

/** A server, and a Source that was sent to it and could not be read. */
async function withSource(): Promise<TestServer & { id: string; document: string; content: string; hash: string }> {
  const server = await testServer()
  const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="Größe '1'.pdf"\r\n\r\n`
  const { json } = await server.request('POST', '/api/v1/knowledge-bases/handbook/documents/upload?force=true', {
    as: 'app',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: `${head}${bytes}\r\n--b--\r\n`,
  })
  const { id, contentHash } = SourceAnswer.parse(json)
  await server.ctx.sources.change(id, ['pending', 'ready'], { status: 'failed' })
  await server.ctx.jobs.cancel(id)
  const document = `/api/v1/documents/${id}`
  return { ...server, id, document, content: `${document}/content`, hash: contentHash ?? '' }
}

test('curators read, list and download Sources; apps may only ingest them', async () => {
  const { request, document, content } = await withSource()
  for (const [method, url, status] of [
    ['GET', '/api/v1/knowledge-bases/handbook/documents', 200],
    ['GET', document, 200],
    ['GET', content, 200],
  ] as const) {
    expect([url, (await request(method, url, { as: 'curator' })).status]).toEqual([url, status])
    expect([url, (await request(method, url, { as: 'app' })).status]).toEqual([url, 403])
    expect([url, (await request(method, url)).status]).toEqual([url, 401])
  }
  for (const [as, status] of [
    ['curator', 202],
    ['app', 409],
    ['reader', 403],
  ] as const) {
    expect((await request('POST', `${document}/ingest`, { as })).status).toBe(status)
  }
})

test('curators archive Sources; nobody else does', async () => {
  const { request, document } = await withSource()
  expect((await request('DELETE', document, { as: 'app' })).status).toBe(403)
  expect((await request('DELETE', document)).status).toBe(401)
  expect((await request('DELETE', document, { as: 'curator' })).status).toBe(204)
})

test('what is not there, or is no id, is not found', async () => {
  const { request, id } = await withSource()
  for (const url of [unknown, '/api/v1/documents/x', `/api/v1/documents/${id}%2f`]) {
    expect((await request('GET', url, { as: 'curator' })).status).toBe(404)
    expect((await request('DELETE', url, { as: 'curator' })).status).toBe(404)
    expect((await request('POST', `${url}/ingest`, { as: 'app' })).status).toBe(404)
  }
  expect((await request('GET', '/api/v1/knowledge-bases/other/documents', { as: 'curator' })).status).toBe(404)
})

test('an ingest is accepted with a message, and refused with a code', async () => {
  const { request, document } = await withSource()
  const ingest = (document: string) => request('POST', `${document}/ingest`, { as: 'app' })
  expect(await ingest(document)).toMatchObject({ status: 202, json: { ok: true, message: expect.any(String) } })
  expect(await ingest(document)).toMatchObject({ status: 409, json: { error: 'already_processing' } })
  const candidate = { kb: 'handbook', kind: 'chat', title: 'x', content: 'y' }
  const { json } = await request('POST', '/api/v1/queue/candidates', { as: 'app', body: candidate })
  const approve = `/api/v1/queue/candidates/${Object(json).candidateId}/approve`
  const approval = await request('POST', approve, { as: 'curator' })
  const page = await ingest(`/api/v1/documents/${Object(approval.json).documentId}`)
  expect(page).toMatchObject({ status: 400, json: { error: 'not_a_source' } })
})

test.each(['?status=new', '?limit=0', '?limit=1e2', '?status=ready&status=failed'])(
  'a listing with %s is refused',
  async (query) => {
    const { request } = await testServer()
    expect((await request('GET', `/api/v1/knowledge-bases/handbook/documents${query}`, { as: 'curator' })).status).toBe(
      400,
    )
  },
)

test("a Source's bytes are for saving, and never shown", async () => {
  const { request, content, hash } = await withSource()
  const { status, headers, text } = await request('GET', content, { as: 'curator' })
  expect([status, text]).toEqual([200, '%PDF-1\n'])
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="Gr??e '1'.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%271%27.pdf`,
    'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    'content-length': '7',
    etag: `"${hash}"`,
  })
  const head = await request('HEAD', content, { as: 'curator' })
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '7'])
})

test.each([
  ['bytes=0-3', 206, '%PDF', 'bytes 0-3/7'],
  ['bytes=5-', 206, '1\n', 'bytes 5-6/7'],
  ['bytes=-3', 206, '-1\n', 'bytes 4-6/7'],
  ['bytes=-100', 206, '%PDF-1\n', 'bytes 0-6/7'],
  ['bytes=3-100', 206, 'F-1\n', 'bytes 3-6/7'],
  ['bytes=3-1', 200, '%PDF-1\n', undefined],
  ['bytes=0-1,3-4', 200, '%PDF-1\n', undefined],
  ['pages=1-2', 200, '%PDF-1\n', undefined],
])('the range %s is answered with %i', async (range, expected, bytes, contentRange) => {
  const { request, content } = await withSource()
  const { status, headers, text } = await request('GET', content, { as: 'curator', headers: { range } })
  expect([status, text, headers['content-range']]).toEqual([expected, bytes, contentRange])
  expect(headers['content-length']).toBe(String(bytes.length))
})

test.each(['bytes=7-', 'bytes=-0'])('the range %s is beyond the file', async (range) => {
  const { request, content } = await withSource()
  const { status, headers, json } = await request('GET', content, { as: 'curator', headers: { range } })
  expect([status, headers['content-range'], json]).toMatchObject([416, 'bytes */7', { error: 'range_not_satisfiable' }])
})

test('a range of another version is answered with the whole', async () => {
  const { request, content, hash } = await withSource()
  const ask = async (ifRange: string) =>
    (await request('GET', content, { as: 'curator', headers: { range: 'bytes=0-3', 'if-range': ifRange } })).status
  expect([await ask('"other"'), await ask(`"${hash}"`)]).toEqual([200, 206])
})
