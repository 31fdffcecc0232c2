import { expect, test } from 'vitest'
import { freeDisk, neuronPath as read, testServer } from '../support/test-server.ts'

const write = '/api/v1/queue/candidates'
const body = { kb: 'handbook', kind: 'chat', title: 'x', content: 'y' }

test('reads of one key are bounded, apart from its writes and from other keys', async () => {
  const { request } = await testServer({}, { rateReads: 3, rateWrites: 2 })
  const statuses = []
  for (let n = 0; n < 4; n++) statuses.push((await request('GET', read, { as: 'app' })).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  expect((await request('GET', read, { as: 'reader' })).status).toBe(200)
  expect((await request('POST', write, { as: 'app', body })).status).toBe(201)
})

test('writes of one key are bounded, whatever comes of them', async () => {
  const { request, acts } = await testServer({}, { rateReads: 3, rateWrites: 2 })
  await request('POST', write, { as: 'app', body: { title: 1 } })
  await request('POST', write, { as: 'app', body })
  const { status, json, headers } = await request('POST', write, { as: 'app', body })
  expect([status, json]).toEqual([429, expect.objectContaining({ error: 'rate_limited' })])
  expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60)
  expect(acts).toHaveLength(1)
})

test('chats of one key are bounded on their own, at 20 without another bound', async () => {
  const chat = '/api/v1/chat'
  const question = { message: 'Who is paged?' }
  const { request } = await testServer({}, { rateReads: 1, rateWrites: 1 })
  const statuses = []
  for (let n = 0; n < 21; n++) statuses.push((await request('POST', chat, { as: 'app', body: question })).status)
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429])
  expect((await request('POST', chat, { as: 'reader', body: question })).status).toBe(200)
  expect((await request('GET', read, { as: 'app' })).status).toBe(200)
  expect((await request('POST', write, { as: 'app', body })).status).toBe(201)
  const bounded = await testServer({}, { rateChats: 1 })
  expect((await bounded.request('POST', chat, { as: 'app', body: question })).status).toBe(200)
  expect((await bounded.request('POST', chat, { as: 'app', body: question })).status).toBe(429)
})

test('unknown paths count as well', async () => {
  const { request } = await testServer({}, { rateReads: 1 })
  expect((await request('GET', '/api/v1/nothing', { as: 'app' })).status).toBe(404)
  expect((await request('GET', '/api/v1/nothing', { as: 'app' })).status).toBe(429)
})

test('bad tokens use up nobody’s rate', async () => {
  const { request } = await testServer({}, { rateReads: 1 })
  for (let n = 0; n < 5; n++) expect((await request('GET', read)).status).toBe(401)
  expect((await request('GET', read, { as: 'reader' })).status).toBe(200)
})

test('a nearly full disk stops writes, not reads', async () => {
  const { request, ctx, acts } = await testServer()
  freeDisk(ctx, 0.049)
  const { status, json } = await request('POST', write, { as: 'app', body })
  expect([status, json]).toEqual([507, expect.objectContaining({ error: 'insufficient_storage' })])
  expect(acts).toEqual([])
  expect((await request('POST', '/api/v1/chat', { as: 'app', body: { message: 'Who?' } })).status).toBe(507)
  expect((await request('GET', read, { as: 'app' })).status).toBe(200)
})

test('a disk with 5 % free is no reason to stop, and is not measured for each write', async () => {
  const { request, ctx } = await testServer()
  const measured = freeDisk(ctx, 0.05)
  for (let n = 0; n < 5; n++) expect((await request('POST', write, { as: 'app', body })).status).toBe(201)
  expect(measured).toHaveBeenCalledTimes(1)
})

test('requests without a caller are counted by the network: addresses of one IPv6 /64 share a limit', async () => {
  const { app } = await testServer()
  const ask = async (remoteAddress: string) =>
    (await app.inject({ url: '/.well-known/oauth-protected-resource', remoteAddress })).statusCode
  const statuses = []
  for (let n = 0; n < 61; n++) statuses.push(await ask(`2001:db8:0:1::${(n + 1).toString(16)}`))
  expect(statuses).toEqual([...Array.from({ length: 60 }, () => 200), 429])
  expect([await ask('2001:db8:0:2::1'), await ask('::ffff:192.0.2.1')]).toEqual([200, 200])
})
