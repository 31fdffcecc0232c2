import { expect, test } from 'vitest'
import { testServer } from '../support/test-server.ts'

const id = '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70'
const routes = [
  ['POST', '/api/v1/queue/candidates'],
  ['POST', `/api/v1/queue/candidates/${id}/approve`],
  ['POST', `/api/v1/queue/candidates/${id}/dismiss`],
  ['POST', `/api/v1/queue/candidates/${id}/reopen`],
  ['GET', '/api/v1/queue/candidates'],
  ['GET', `/api/v1/queue/candidates/${id}`],
  ['GET', '/api/v1/neurons/handbook/handbook_00000042'],
] as const
const forCurators = routes.slice(1, 6)

test.each(routes)('%s %s without a token, or with one that is not known, is 401', async (method, url) => {
  const { request } = await testServer()
  for (const authorization of [
    undefined,
    'Bearer nobody',
    'Bearer',
    'Bearer ',
    'Basic cmVhZGVyOg==',
    'curator',
    'Bearer a b',
  ]) {
    const { status, headers, json } = await request(method, url, {
      ...(authorization && { headers: { authorization } }),
    })
    expect([authorization, status, headers['www-authenticate']]).toEqual([authorization, 401, 'Bearer'])
    expect(json).toMatchObject({ error: 'invalid_token' })
  }
})

test('a token elsewhere than in the header is none', async () => {
  const { request } = await testServer()
  const path = '/api/v1/queue/candidates'
  expect((await request('GET', `${path}?access_token=curator&token=curator`)).status).toBe(401)
  expect((await request('GET', path, { headers: { cookie: 'authorization=curator; token=curator' } })).status).toBe(401)
  expect((await request('GET', path, { headers: { 'x-api-key': 'curator' } })).status).toBe(401)
})

test('a bad token is told before anything that is wrong with the request', async () => {
  const { request } = await testServer()
  const broken = { body: '{', headers: { 'content-type': 'text/html' } }
  expect((await request('POST', '/api/v1/queue/candidates', broken)).status).toBe(401)
  expect((await request('GET', '/api/v1/queue/candidates?limit=0')).status).toBe(401)
  expect((await request('GET', '/api/v1/neurons/%ff/x')).status).toBe(401)
})

test("the scheme's name is case-insensitive", async () => {
  const { request } = await testServer()
  const headers = { authorization: 'bearer curator' }
  expect((await request('GET', '/api/v1/queue/candidates', { headers })).status).toBe(200)
})

test('an unknown path of the API is 401 without a token, and 404 with one', async () => {
  const { request } = await testServer()
  for (const url of [
    '/api/v1',
    '/api/v1/',
    '/api/v1/nothing',
    '/api/v1/queue/candidates/',
    `/api/v1/queue/${id}/approve/x`,
  ]) {
    expect([url, (await request('GET', url)).status]).toEqual([url, 401])
    expect([url, (await request('GET', url, { as: 'curator' })).status]).toEqual([url, 404])
  }
  expect((await request('DELETE', '/api/v1/queue/candidates')).status).toBe(401)
})

test('a known path with another method is 405 and names the methods that it has', async () => {
  const { request } = await testServer()
  for (const [method, url, allow] of [
    ['DELETE', '/api/v1/queue/candidates', 'POST, GET, HEAD'],
    ['OPTIONS', '/api/v1/chat', 'POST'],
    ['GET', `/api/v1/uploads/${id}/chunk`, 'PATCH'],
    ['PUT', '/mcp', 'POST'],
    ['TRACE', '/mcp', 'POST'],
    ['PROPFIND', '/api/v1/search', 'GET, HEAD'],
    ['DELETE', '/openapi.json', 'GET, HEAD'],
    ['POST', '/docs', 'GET, HEAD'],
    ['PROPFIND', '/metrics', 'GET, HEAD'],
  ] as const) {
    const { status, headers, json } = await request(method, url, {
      as: 'curator',
      body: 'x',
      headers: { 'content-type': 'x/y' },
    })
    expect([url, status, headers.allow, json]).toEqual([
      url,
      405,
      allow,
      expect.objectContaining({ error: 'method_not_allowed' }),
    ])
  }
  expect((await request('POST', '/healthz')).headers.allow).toBe('GET, HEAD')
})

test('a body in a content encoding is 415 and names the one that is read; so is a body of another type', async () => {
  const { request } = await testServer()
  const send = (headers: Record<string, string>) =>
    request('POST', '/api/v1/queue/candidates', { as: 'app', body: '{}', headers })
  for (const encoding of ['gzip', 'br', 'GZIP, identity']) {
    const { status, headers, json } = await send({ 'content-encoding': encoding })
    expect([status, headers['accept-encoding'], json]).toEqual([
      415,
      'identity',
      { error: 'unsupported_media_type', message: 'Send the body without a content encoding.' },
    ])
  }
  expect((await send({ 'content-encoding': 'identity' })).status).toBe(400)
  const { status, json } = await send({ 'content-type': 'text/plain' })
  expect([status, json]).toEqual([
    415,
    { error: 'unsupported_media_type', message: 'Send the body as application/json.' },
  ])
})

test.each(forCurators)('%s %s is for curators', async (method, url) => {
  const { request } = await testServer()
  for (const as of ['reader', 'app'] as const) {
    const { status, json } = await request(method, url, { as })
    expect([as, status, json]).toEqual([as, 403, expect.objectContaining({ error: 'insufficient_role' })])
  }
  expect((await request(method, url, { as: 'curator' })).status).not.toBe(403)
})

test('a reader submits no candidate; an app and a curator do', async () => {
  const { request, acts } = await testServer()
  const body = { kb: 'handbook', kind: 'chat', title: 'x', content: 'y' }
  expect((await request('POST', '/api/v1/queue/candidates', { as: 'reader', body })).status).toBe(403)
  expect(acts).toEqual([])
  expect((await request('POST', '/api/v1/queue/candidates', { as: 'app', body })).status).toBe(201)
  expect((await request('POST', '/api/v1/queue/candidates', { as: 'curator', body })).status).toBe(201)
})

test('there is no CORS', async () => {
  const { request } = await testServer()
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  const preflight = await request('OPTIONS', '/api/v1/queue/candidates', { headers })
  const read = await request('GET', '/api/v1/queue/candidates', { as: 'curator', headers })
  expect(preflight.status).toBe(401)
  for (const answer of [preflight, read]) expect(answer.headers['access-control-allow-origin']).toBeUndefined()
})
