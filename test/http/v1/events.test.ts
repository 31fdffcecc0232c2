import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { LoggedEvent } from '../../../src/contract/events.ts'
import type { ServerOptions } from '../../../src/http/server.ts'
import type { Services } from '../../../src/http/services.ts'
import { eventually } from '../../support/eventually.ts'
import { fakeServices } from '../support/fake-services.ts'
import { listen, testServer } from '../support/test-server.ts'

type Query = Parameters<Services['readEvents']>[1]

const pushed: LoggedEvent = {
  id: 7,
  kind: 'kb.pushed',
  tenantId: 'acme',
  kbId: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  at: '2026-03-01T10:00:00.000Z',
  commit: '3f786850e387550fdab836ed7e6dc881de23001b',
}

/** Tells what it is given, then stays open until its signal aborts. Keeps what it was asked. */
function openFeed(told: LoggedEvent[][] = [], { after = 0, hasGap = false } = {}) {
  const asked: { query: Query; signal: AbortSignal }[] = []
  const readEvents: Services['readEvents'] = async (_, query, signal) => {
    asked.push({ query, signal })
    const events = async function* () {
      yield* told
      if (!signal.aborted) await once(signal, 'abort')
    }
    return { after, hasGap, events: events() }
  }
  return { readEvents, asked }
}

async function serve(services: Partial<Services>, options: ServerOptions = {}) {
  const { app } = await testServer(services, options)
  const port = await listen(app)
  const open = async (as = 'curator', headers: Record<string, string> = {}, query = '') => {
    const gone = new AbortController()
    const url = `http://127.0.0.1:${port}/api/v1/events${query}`
    const response = await fetch(url, { headers: { authorization: `Bearer ${as}`, ...headers }, signal: gone.signal })
    return { response, leave: () => gone.abort() }
  }
  return { app, open }
}

test('a stream says where it is, then each event with its id, its kind and all of it as JSON', async () => {
  const { readEvents } = openFeed([[pushed], [{ ...pushed, id: 9 }]], { after: 6 })
  const { open } = await serve({ readEvents }, { eventStreamAge: 100 })
  const { response } = await open()
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const frame = (id: number) => `id: ${id}\nevent: kb.pushed\ndata: ${JSON.stringify({ ...pushed, id })}\n\n`
  expect(await response.text()).toBe(`retry: 2000\nid: 6\n\n${frame(7)}${frame(9)}`)
})

test('a stream with a gap says so before anything else', async () => {
  const { readEvents } = openFeed([], { after: 40, hasGap: true })
  const { open } = await serve({ readEvents }, { eventStreamAge: 100 })
  const { response } = await open('app', { 'last-event-id': '12' })
  expect(await response.text()).toBe(
    'event: gap\ndata: {"lastEventId":12,"resumedAfter":40}\n\nretry: 2000\nid: 40\n\n',
  )
})

describe('a request', () => {
  test.each<[Record<string, string>, string, Query]>([
    [{}, '', { lastEventId: undefined }],
    [{ 'last-event-id': '0' }, '', { lastEventId: 0 }],
    [{ 'last-event-id': '42' }, '?kb=handbook', { kb: 'handbook', lastEventId: 42 }],
  ])('is handed on: %j %s', async (headers, query, expected) => {
    const { readEvents, asked } = openFeed()
    const { open } = await serve({ readEvents }, { eventStreamAge: 100 })
    await (await open('app', headers, query)).response.text()
    expect(asked.map(({ query }) => query)).toEqual([expected])
  })

  test.each(['', ' ', '-1', '1.5', '01', '1e3', 'abc', '1, 2', '9999999999999999'])(
    'with a Last-Event-ID of %j asks for an id that is yet to come, since EventSource gives up after a 400',
    async (id) => {
      const { readEvents, asked } = openFeed()
      const { open } = await serve({ readEvents }, { eventStreamAge: 100 })
      const { response } = await open('app', { 'last-event-id': id })
      expect([response.status, (await response.text()).includes('gap')]).toEqual([200, false])
      expect(asked.map(({ query }) => query)).toEqual([{ lastEventId: Number.POSITIVE_INFINITY }])
    },
  )

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
    const { readEvents, asked } = openFeed()
    const { open } = await serve({ readEvents })
    const streams = await Promise.all(Array.from({ length: 10 }, () => open()))
    const refused = (await open()).response
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    expect(await refused.json()).toMatchObject({ error: 'rate_limited' })
    expect((await open('app')).response.status).toBe(200)
    const [first] = asked
    streams[0]?.leave()
    if (first?.signal.aborted === false) await once(first.signal, 'abort')
    await eventually(async () => expect((await open()).response.status).toBe(200))
  })

  test('of one tenant are a hundred', async () => {
    const { readEvents } = openFeed()
    const authenticate: Services['authenticate'] = async (id) => {
      return { id, name: id, tenantId: id === 'other' ? 'globex' : 'acme', role: 'curator', connectors: [] }
    }
    const { open } = await serve({ readEvents, authenticate })
    // Kept: a response that is garbage is a client that has left.
    const streams = await Promise.all(Array.from({ length: 101 }, (_, n) => open(`k${n}`)))
    const statuses = streams.map(({ response }) => response.status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    expect((await open('other')).response.status).toBe(200)
    expect(streams).toHaveLength(101)
  })

  test('that are refused count for nothing', async () => {
    const { open } = await serve({ readEvents: fakeServices().readEvents })
    for (let n = 0; n < 12; n++) expect((await open('app', {}, '?kb=other')).response.status).toBe(404)
    for (let n = 0; n < 12; n++) {
      const { response } = await open('app')
      expect(response.status).toBe(200)
      await response.text()
    }
  })

  test('end when the server closes', async () => {
    const { readEvents } = openFeed([], { after: 3 })
    const { app, open } = await serve({ readEvents })
    const { response } = await open()
    const [text] = await Promise.all([response.text(), app.close()])
    expect(text).toBe('retry: 2000\nid: 3\n\n')
  })

  test('end when the client goes', async () => {
    const { readEvents, asked } = openFeed()
    const { open } = await serve({ readEvents })
    const { leave } = await open()
    const [stream] = asked
    leave()
    if (stream?.signal.aborted === false) await once(stream.signal, 'abort')
    expect(stream?.signal.aborted).toBe(true)
  })
})

/** Tells without end, as fast as it is let. */
function flood() {
  const counts = { told: 0 }
  const readEvents: Services['readEvents'] = async (_, __, signal) => {
    const events = async function* () {
      for (let id = 1; !signal.aborted; id += 500) {
        counts.told += 500
        yield Array.from({ length: 500 }, (_, index) => ({ ...pushed, id: id + index }))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    return { after: 0, hasGap: false, events: events() }
  }
  return { readEvents, counts }
}

test('a client that reads slowly is sent what it can take', async () => {
  const { readEvents, counts } = flood()
  const { open } = await serve({ readEvents })
  const { response, leave } = await open()
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (text.length < 4_000_000) {
    const { value = '', done } = (await reader?.read()) ?? { done: true }
    if (done) break
    text += value
    if (text.length % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  leave()
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  expect(ids.length).toBeGreaterThan(10_000)
  expect(ids).toEqual(ids.map((_, index) => index))
  expect(counts.told).toBeGreaterThan(ids.length - 1)
})
