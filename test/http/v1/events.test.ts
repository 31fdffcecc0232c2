import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ServerOptions } from '../../../src/http/server.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { eventually } from '../../support/eventually.ts'
import { listen, testServer } from '../support/test-server.ts'

const commit = '3f786850e387550fdab836ed7e6dc881de23001b'

async function serve(options: ServerOptions = {}) {
  const { app, ctx, kbId } = await testServer({}, options)
  const { id: tenantId } = await ctx.tenants.ensure('acme', ctx.now())
  const port = await listen(app)
  const open = async (as = 'curator', headers: Record<string, string> = {}, query = '') => {
    const gone = new AbortController()
    const url = `http://127.0.0.1:${port}/api/v1/events${query}`
    const response = await fetch(url, { headers: { authorization: `Bearer ${as}`, ...headers }, signal: gone.signal })
    return { response, leave: () => gone.abort() }
  }
  const last = async () => (await ctx.events.range(tenantId)).last
  /** Logs pushes to knowledge bases, and gives the id of the first. */
  const push = async (...kbIds: string[]) => {
    const event = { kind: 'kb.pushed', isCuratorOnly: false, data: { commit } } as const
    const first = (await last()) + 1
    await ctx.events.append(
      tenantId,
      kbIds.map((kbId) => ({ ...event, kbId })),
      new Date('2026-03-01T10:00:00.000Z'),
    )
    return first
  }
  return { app, ctx, kbId, tenantId, open, last, push }
}

const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))

test('a stream says where it is, then each event with its id, its kind and all of it as JSON', async () => {
  const { open, push, kbId, tenantId } = await serve({ eventStreamAge: 200 })
  const first = await push(kbId, kbId)
  const { response } = await open('curator', { 'last-event-id': String(first - 1) })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const pushed = { kind: 'kb.pushed', tenantId, kbId, at: '2026-03-01T10:00:00.000Z', commit }
  const frame = (id: number) => `id: ${id}\nevent: kb.pushed\ndata: ${JSON.stringify({ id, ...pushed })}\n\n`
  expect(await response.text()).toBe(`retry: 2000\nid: ${first - 1}\n\n${frame(first)}${frame(first + 1)}`)
})

test.each(['123456789', '', ' ', '-1', '1.5', '01', '1e3', 'abc', '1, 2', '9999999999999999'])(
  'a stream after %j, which is no id so far, says first that it has a gap, since EventSource gives up after a 400',
  async (id) => {
    const { open, push, kbId } = await serve({ eventStreamAge: 100 })
    const last = await push(kbId)
    const { response } = await open('curator', { 'last-event-id': id })
    const lastEventId = id === '123456789' ? id : 'null'
    expect([response.status, await response.text()]).toEqual([
      200,
      `event: gap\ndata: {"lastEventId":${lastEventId},"resumedAfter":${last}}\n\nretry: 2000\nid: ${last}\n\n`,
    ])
  },
)

describe('a request', () => {
  test('without an id begins now, with 0 at the first event, and may name a knowledge base', async () => {
    const { ctx, open, push, kbId } = await serve({ eventStreamAge: 200 })
    const other = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'manual' })
    const first = await push(kbId, other.id, kbId)
    const idsOf = async (...asked: [Record<string, string>?, string?]) =>
      idsIn(await (await open('curator', ...asked)).response.text())
    expect(await idsOf()).toEqual([first + 2])
    const all = await idsOf({ 'last-event-id': '0' })
    expect([all[0], all.slice(-3)]).toEqual([0, [first, first + 1, first + 2]])
    const after = { 'last-event-id': String(first - 1) }
    expect(await idsOf(after, '?kb=handbook')).toEqual([first - 1, first, first + 2])
  })

  test.each(['?kb=A', '?kb=', '?kb=a&kb=b'])('of %s is 400', async (query) => {
    const { request } = await testServer()
    expect((await request('GET', `/api/v1/events${query}`, { as: 'app' })).status).toBe(400)
  })

  test('without a token is 401, of a reader 403, of another knowledge base 404', async () => {
    const { request } = await testServer()
    const statusOf = async (as?: 'reader' | 'app', query = '') => {
      return (await request('GET', `/api/v1/events${query}`, as === undefined ? {} : { as })).status
    }
    expect([await statusOf(), await statusOf('reader'), await statusOf('app', '?kb=other')]).toEqual([401, 403, 404])
  })

  test('for the headers alone is 405, since the stream behind them would never end', async () => {
    const { request } = await testServer()
    expect((await request('HEAD', '/api/v1/events', { as: 'app' })).status).toBe(405)
  })
})

describe('open streams', () => {
  test('of one key are ten; one that ends makes room', async () => {
    const { open } = await serve()
    const streams = await Promise.all(Array.from({ length: 10 }, () => open()))
    const refused = (await open()).response
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    expect(await refused.json()).toMatchObject({ error: 'rate_limited' })
    expect((await open('app')).response.status).toBe(200)
    streams[0]?.leave()
    await eventually(async () => expect((await open()).response.status).toBe(200))
  })

  test('of one tenant are a hundred', async () => {
    const { ctx, open } = await serve()
    const newKey = async (tenant: string) => {
      const { id: tenantId } = await ctx.tenants.ensure(tenant, ctx.now())
      const key = { tenantId, name: 'k', role: 'curator' as const, connectors: [], expiresAt: null }
      return (await ctx.apiKeys.create(key, ctx.now())).token
    }
    const tokens = await Promise.all(Array.from({ length: 101 }, () => newKey('acme')))
    // Kept: a response that is garbage is a client that has left.
    const streams = await Promise.all(tokens.map((token) => open(token)))
    const statuses = streams.map(({ response }) => response.status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    expect((await open(await newKey('globex'))).response.status).toBe(200)
    expect(streams).toHaveLength(101)
  })

  test('that are refused count for nothing', async () => {
    const { open } = await serve({ eventStreamAge: 20 })
    for (let n = 0; n < 12; n++) expect((await open('app', {}, '?kb=other')).response.status).toBe(404)
    for (let n = 0; n < 12; n++) {
      const { response } = await open('app')
      expect(response.status).toBe(200)
      await response.text()
    }
  })

  test('end when the server closes', async () => {
    const { app, open, last } = await serve()
    const { response } = await open()
    const [text] = await Promise.all([response.text(), app.close()])
    expect(text).toBe(`retry: 2000\nid: ${await last()}\n\n`)
  })

  test('end when the client goes', async () => {
    const { ctx, open } = await serve()
    const waits = vi.spyOn(ctx.events, 'arrival')
    onTestFinished(() => waits.mockRestore())
    const { leave } = await open()
    await eventually(() => expect(waits).toHaveBeenCalled())
    const signal = waits.mock.calls[0]?.[2]
    expect(signal?.aborted).toBe(false)
    leave()
    await eventually(() => expect(signal?.aborted).toBe(true))
  })
})

test('a client that reads slowly is sent what it can take', async () => {
  const { open, push, kbId } = await serve()
  const first = await push(...Array.from({ length: 20_000 }, () => kbId))
  const { response, leave } = await open('curator', { 'last-event-id': String(first - 1) })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (text.length < 4_000_000) {
    const { value = '', done } = (await reader?.read()) ?? { done: true }
    if (done) break
    text += value
    if (text.length % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  leave()
  const ids = idsIn(text)
  expect(ids.length).toBeGreaterThan(10_000)
  expect(ids).toEqual(ids.map((_, index) => first - 1 + index))
})
