import { expect, test } from 'vitest'
import { testServer } from '../support/test-server.ts'

const folder = '/api/v1/knowledge-bases/handbook/files'
const image = `${folder}/neurons%2Fa%20b%2F%C3%BC.png`

test.each(['reader', 'app', 'curator'] as const)('a %s reads a file', async (as) => {
  const { request } = await testServer()
  const { status, text, headers } = await request('GET', image, { as })
  expect([status, text]).toEqual([200, 'bytes'])
  expect(headers).toMatchObject({
    ...{ 'content-type': 'image/png', 'content-length': '5', 'accept-ranges': 'bytes' },
    'content-disposition': `inline; filename="?.png"; filename*=UTF-8''%C3%BC.png`,
    'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    ...{ 'x-content-type-options': 'nosniff', 'cache-control': 'private, no-cache' },
  })
  expect((await request('GET', image)).status).toBe(401)
})

test('what could run a script is only to be saved', async () => {
  const { request } = await testServer()
  const { headers } = await request('GET', `${folder}/neurons%2Fx.svg`, { as: 'reader' })
  expect([headers['content-type'], headers['content-disposition']]).toEqual([
    'application/octet-stream',
    `attachment; filename=x.svg`,
  ])
})

test('a file that is still the same is not sent again', async () => {
  const { request } = await testServer()
  const { headers } = await request('GET', image, { as: 'reader' })
  const ask = async (tag: string) => {
    const { status, text } = await request('GET', image, { as: 'reader', headers: { 'if-none-match': tag } })
    return [status, text]
  }
  const tag = String(headers.etag)
  for (const same of [tag, `W/${tag}`, `"other", ${tag}`, '*']) expect(await ask(same)).toEqual([304, ''])
  expect(await ask('"other"')).toEqual([200, 'bytes'])
})

test('a path that leads elsewhere is not found, byte for byte as one that is not there', async () => {
  const { app, request } = await testServer()
  const { text: missing } = await request('GET', `${folder}/neurons%2Fmissing.png`, { as: 'reader' })
  for (const path of ['', '..%2F..%2Fkb.yaml', '.git%2Fconfig', '%00', '%ff', 'a%', 'neurons%2F', 'x'.repeat(5000)]) {
    const { status, text } = await request('GET', `${folder}/${path}`, { as: 'reader' })
    expect([path.slice(0, 40), status, text]).toEqual([path.slice(0, 40), 404, missing])
  }
  const headers = { authorization: 'Bearer reader' }
  const plain = await app.inject({ url: `${folder}/neurons/a%20b/%C3%BC.png`, headers })
  expect([plain.statusCode, plain.body]).toEqual([200, 'bytes'])
})
