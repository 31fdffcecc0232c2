import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { testServer } from '../support/test-server.ts'

const description = '/openapi.json'

async function server() {
  const { app, request } = await testServer()
  return { request, get: (url: string, headers: Record<string, string>) => app.inject({ url, headers }) }
}

test('a long text is sent in a coding that the client accepts', async () => {
  const { get } = await server()
  const plain = await get(description, {})
  expect(plain.headers).toMatchObject({ vary: 'accept-encoding' })
  expect(plain.headers['content-encoding']).toBeUndefined()
  for (const [coding, accepted, read] of [
    ['br', 'gzip, deflate, br', brotliDecompressSync],
    ['gzip', 'gzip, br;q=0', gunzipSync],
    ['gzip', 'gzip;q=1.0, *;q=0.5', gunzipSync],
  ] as const) {
    const sent = await get(description, { 'accept-encoding': accepted })
    expect(sent.headers, accepted).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' })
    expect(read(sent.rawPayload).toString()).toBe(plain.body)
    expect(Number(sent.headers['content-length']), accepted).toBe(sent.rawPayload.length)
    expect(sent.rawPayload.length, accepted).toBeLessThan(plain.body.length / 3)
  }
})

test('a text stays as it is for a client that accepts no coding', async () => {
  const { get } = await server()
  for (const accepted of ['identity', 'br;q=0, gzip;q=0', 'compress', '']) {
    const { headers } = await get(description, { 'accept-encoding': accepted })
    expect(headers['content-encoding'], accepted).toBeUndefined()
  }
})

test('short answers, errors of a few words and pages stay as they are', async () => {
  const { get } = await server()
  for (const url of ['/healthz', '/nothing', '/docs']) {
    expect((await get(url, { 'accept-encoding': 'br' })).headers['content-encoding']).toBeUndefined()
  }
})

test('the tag of a compressed answer is weak, and names it for the next request', async () => {
  const { request, get } = await server()
  for (let n = 0; n < 20; n++) {
    const body = { kb: 'handbook', kind: 'chat', title: `Page ${n}`, content: 'x', confidence: 1 }
    await request('POST', '/api/v1/queue/candidates', { as: 'app', body })
  }
  const url = '/api/v1/knowledge-bases/handbook/neurons'
  const authorization = 'Bearer app'
  const plain = await get(url, { authorization })
  for (const _ of ['made', 'kept']) {
    const { headers, rawPayload } = await get(url, { authorization, 'accept-encoding': 'br' })
    expect(headers.etag).toBe(`W/${plain.headers.etag}`)
    expect(brotliDecompressSync(rawPayload).toString()).toBe(plain.body)
  }
  const etag = `W/${plain.headers.etag}`
  const again = await get(url, { authorization, 'accept-encoding': 'br', 'if-none-match': etag })
  expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag])
  const identical = await get(url, { authorization, 'if-none-match': String(plain.headers.etag) })
  expect([identical.statusCode, identical.headers.etag]).toEqual([304, plain.headers.etag])
})
