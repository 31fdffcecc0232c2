import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import {
  type ChatEvent,
  ConnectionError,
  DuplicateSourceError,
  Ganglion,
  GanglionError,
  type GanglionEvent,
  type Gap,
  InsufficientRoleError,
  InvalidTokenError,
  MalformedRequestError,
  NotFoundError,
  RateLimitedError,
  StaleHeadError,
  UnavailableError,
} from '../../packages/client/src/index.ts'
import { verify, WebhookVerificationError } from '../../packages/client/src/webhooks.ts'
import { postMessage } from '../../src/events/webhooks/post-message.ts'
import { startProduct } from '../e2e/support.ts'
import { type Cut, flakyProxy } from '../support/flaky-proxy.ts'
import { listening } from '../support/listening.ts'
import { startIngesting } from './support.ts'

type Seen = { method: string; url: string; key: string | undefined; lastEventId: string | undefined; body: string }
type Reply = { status?: number; headers?: Record<string, string>; body?: unknown; isCut?: boolean }

/** A server that gives each request the next reply, the last one again and again. */
async function scripted(...replies: Reply[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const listener: RequestListener = async (request, response) => {
    const { 'idempotency-key': key, 'last-event-id': lastEventId } = request.headers
    const { method = '', url = '' } = request
    seen.push({
      method,
      url,
      key: key && String(key),
      lastEventId: lastEventId && String(lastEventId),
      body: await text(request),
    })
    const { status = 200, headers, body, isCut = false } = replies[Math.min(seen.length, replies.length) - 1] ?? {}
    if (isCut && body === undefined) return void request.socket.destroy()
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    if (!isCut) return void response.end(typeof body === 'string' ? body : JSON.stringify(body))
    response.write(body)
    setTimeout(() => request.socket.destroy(), 20)
  }
  return { url: await listening(createServer(listener)), seen }
}

const candidate = { kind: 'external-feed', title: 'Hours', content: 'Nine to five.' } as const
const busy: Reply = { status: 503, headers: { 'retry-after': '0' }, body: { error: 'unavailable' } }
const receipt: Reply = { status: 201, body: { candidateId: 'c', status: 'pending' } }

test('an error has the class of its code, and says what is wrong', async () => {
  const { url, tokens } = await startProduct()
  const kb = new Ganglion({ url, key: tokens.curator }).kb('handbook')
  const failed = (call: PromiseLike<unknown>) => Promise.resolve(call).catch((error: unknown) => error)
  const invalid = await failed(kb.candidates.submit({ ...candidate, title: '' }))
  expect(invalid).toBeInstanceOf(MalformedRequestError)
  expect(invalid).toMatchObject({
    status: 400,
    code: 'malformed_request',
    formErrors: [],
    name: 'MalformedRequestError',
  })
  expect(invalid).toMatchObject({ fieldErrors: { title: [expect.any(String)] }, requestId: expect.any(String) })
  const asReader = new Ganglion({ url, key: tokens.reader })
  expect(await failed(asReader.kb('handbook').candidates.submit(candidate))).toBeInstanceOf(InsufficientRoleError)
  expect(await failed(asReader.kb('nothing').search('x'))).toBeInstanceOf(NotFoundError)
  expect(await failed(new Ganglion({ url, key: 'gng_wrong' }).me.get())).toBeInstanceOf(InvalidTokenError)
  const { candidateId } = await kb.candidates.submit(candidate)
  const stale = await failed(kb.candidates.approve(candidateId, { head: '0'.repeat(40) }))
  expect(stale).toBeInstanceOf(StaleHeadError)
  expect(stale).toMatchObject({ body: { head: expect.stringMatching(/^[0-9a-f]{40}$/) } })
  const file = new Blob(['# Hours\n\nNine to five.\n'])
  const { id } = await kb.sources.upload(file, { filename: 'hours.md' })
  const duplicate = await failed(kb.sources.upload(file, { filename: 'again.md' }))
  expect(duplicate).toBeInstanceOf(DuplicateSourceError)
  expect(duplicate).toMatchObject({ status: 409, body: { existingDocumentId: id } })
})

test('errors of other servers of the contract have the class of their status', async () => {
  const answer = async (status: number, body: unknown, headers = {}) => {
    const { url } = await scripted({ status, body, headers })
    return new Ganglion({ url, retries: 0 })
      .kb('x')
      .search('y')
      .catch((error: unknown) => error)
  }
  expect(await answer(404, { error: 'Knowledge base not found' })).toMatchObject({
    ...{ code: 'not_found', message: 'Knowledge base not found' },
  })
  expect(await answer(404, { error: 'Knowledge base not found' })).toBeInstanceOf(NotFoundError)
  expect(await answer(429, '<html>', { 'content-type': 'text/html' })).toBeInstanceOf(RateLimitedError)
  const unknown = await answer(418, { error: 'too_hot', message: 'Wait.' })
  expect(unknown).toMatchObject({ code: 'too_hot', status: 418, message: 'Wait.', name: 'TooHotError' })
  expect(unknown).toBeInstanceOf(GanglionError)
  expect(await answer(500, { error: '__proto__' })).toMatchObject({ code: '__proto__', status: 500 })
  expect(await answer(500, 'no JSON')).toMatchObject({ code: 'unknown', message: 'The server answered 500.' })
})

test('metadata is sent as text, by the names of the contract', async () => {
  const { url, seen } = await scripted(receipt)
  await new Ganglion({ url }).kb('handbook').candidates.submit({ ...candidate, metadata: { tags: ['a'] } })
  expect(seen[0]?.url).toBe('/api/v1/queue/candidates')
  const body = { knowledgeBaseId: 'handbook', ...candidate, metadata: '{"tags":["a"]}' }
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual(body)
})

test('a write is repeated with the same key, and the response is that of the first', async () => {
  const { url, tokens } = await startProduct()
  let requests = 0
  const cutting = await flakyProxy(url, ({ method }) =>
    method === 'POST' && ++requests < 3 ? { response: 1 } : undefined,
  )
  const kb = new Ganglion({ url: cutting, key: tokens.curator }).kb('handbook')
  const { candidateId } = await kb.candidates.submit(candidate)
  expect(requests).toBe(3)
  const { candidates } = await kb.candidates.list()
  expect(candidates.map((known) => known.candidateId)).toEqual([candidateId])
})

test('what may be repeated depends on the operation and on the failure', async () => {
  const calls = async (replies: Reply[], call: (ganglion: Ganglion) => PromiseLike<unknown>, retries = 4) => {
    const { url, seen } = await scripted(...replies)
    const outcome = await Promise.resolve(call(new Ganglion({ url, retries }))).catch((error: unknown) => error)
    return { outcome, seen, keys: new Set(seen.map(({ key }) => key)) }
  }
  const submit = (ganglion: Ganglion) => ganglion.candidates.submit(candidate)
  const written = await calls([busy, { isCut: true }, { status: 502, body: '' }, receipt], submit)
  expect([written.seen.length, written.keys.size]).toEqual([4, 1])
  expect([...written.keys][0]).toMatch(/^[0-9a-f]{32}$/)
  const own = await calls([busy, receipt], (ganglion) =>
    ganglion.candidates.submit(candidate, { idempotencyKey: 'mine' }),
  )
  expect(own.keys).toEqual(new Set(['mine']))
  const given = await calls([busy], submit, 2)
  expect([given.seen.length, given.outcome]).toEqual([3, expect.any(UnavailableError)])
  const reopen = (ganglion: Ganglion) => ganglion.candidates.reopen('c')
  const once = await calls([{ isCut: true }], reopen)
  expect([once.seen.length, once.outcome]).toEqual([1, expect.any(ConnectionError)])
  expect(once.keys).toEqual(new Set([undefined]))
  const limited = { status: 429, headers: { 'retry-after': '0' }, body: { error: 'rate_limited' } }
  const rejected = await calls([limited, { body: { candidateId: 'c', status: 'pending' } }], reopen)
  expect([rejected.seen.length, rejected.outcome]).toEqual([2, { candidateId: 'c', status: 'pending' }])
  const refused = await calls([{ status: 409, body: { error: 'not_pending' } }], (ganglion) =>
    ganglion.candidates.approve('c'),
  )
  expect([refused.seen.length, refused.outcome]).toEqual([1, expect.objectContaining({ code: 'not_pending' })])
})

test('Retry-After is honoured, and too long a wait is an error', async () => {
  const soon = await scripted({ ...busy, headers: { 'retry-after': '1' } }, { body: { knowledgeBases: [] } })
  const begin = performance.now()
  await new Ganglion({ url: soon.url }).knowledgeBases()
  expect(performance.now() - begin).toBeGreaterThanOrEqual(1_000)
  const late = await scripted({ ...busy, headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() } })
  const error = await new Ganglion({ url: late.url }).me.get().catch((failure: unknown) => failure)
  expect(error).toBeInstanceOf(UnavailableError)
  expect(error).toHaveProperty('retryAfter', expect.closeTo(3_600, -2))
  expect(late.seen).toHaveLength(1)
})

test('a signal ends a request, a wait, a stream and an upload', async () => {
  const { url } = await scripted({ ...busy, headers: { 'retry-after': '60' } })
  const reason = new Error('enough')
  const isEnded = async (work: (signal: AbortSignal) => PromiseLike<unknown>, ms = 100) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(reason), ms)
    await expect(Promise.resolve(work(controller.signal))).rejects.toBe(reason)
  }
  const ganglion = new Ganglion({ url })
  const silent = new Ganglion({ url: await listening(createServer(() => {})) })
  await isEnded((signal) => ganglion.me.get({ signal }))
  await isEnded((signal) => silent.me.get({ signal }))
  await isEnded((signal) => silent.events({}, { signal }).next())
  await isEnded((signal) => silent.kb('x').chat.stream('y', { signal }).next())
  await isEnded((signal) => silent.kb('x').sources.upload(new Blob(['z']), { filename: 'z.txt', signal }))
  await isEnded((signal) => silent.sources.wait('x', { signal }))
  await expect(Promise.resolve(ganglion.me.get({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason)
})

test('a server that does not answer, redirects, or is another one is an error that says so', async () => {
  const failed = async (url: string) =>
    new Ganglion({ url, key: 'gng_secret', retries: 0, timeout: 200 }).me.get().catch(String)
  expect(await failed('http://127.0.0.1:9')).toBe('ConnectionError: http://127.0.0.1:9 cannot be reached.')
  const silent = await listening(createServer(() => {}))
  expect(await failed(silent)).toBe(`ConnectionError: ${silent} did not answer in time.`)
  const elsewhere = await scripted({ body: {} })
  const redirecting = await scripted({ status: 302, headers: { location: `${elsewhere.url}/api/v1/me` } })
  expect(await failed(redirecting.url)).toContain('redirects to ')
  expect(elsewhere.seen).toEqual([])
  const page = await scripted({ headers: { 'content-type': 'text/html' }, body: '<html>' })
  expect(await failed(page.url)).toContain('answered 200 without JSON')
})

test('a path prefix of the address is kept', async () => {
  const { url, seen } = await scripted({ body: { knowledgeBases: [] } })
  await new Ganglion({ url: `${url}/kb/` }).knowledgeBases()
  expect(seen[0]?.url).toBe('/kb/api/v1/knowledge-bases')
})

const line = 'A line of a long text.\n'

/** Cuts off every second chunk in the middle. */
function everySecondChunk(): (request: IncomingMessage) => Cut {
  let chunks = 0
  return ({ method }) => (method === 'PATCH' && chunks++ % 2 === 0 ? { request: 1_000_000 } : undefined)
}

test('an upload in chunks goes on where the connection broke', async () => {
  const { url, tokens } = await startIngesting()
  const content = new Blob([line.repeat(900_000)])
  const kb = new Ganglion({ url: await flakyProxy(url, everySecondChunk()), key: tokens.app }).kb('handbook')
  const shown: number[] = []
  const source = await kb.sources.upload(content.stream(), {
    ...{ filename: 'large.txt', size: content.size, metadata: { tags: ['large'] } },
    onProgress: ({ sent }) => shown.push(sent),
  })
  expect(source).toMatchObject({ fileSize: content.size, tags: 'large' })
  expect(shown).toEqual(shown.toSorted((a, b) => a - b))
  expect(shown.at(-1)).toBe(content.size)
  const curator = new Ganglion({ url, key: tokens.curator })
  expect(await (await curator.sources.content(source.id)).text()).toBe(line.repeat(900_000))
})

test('an upload that broke off for good is resumed by its id, by another client', async () => {
  const { url, tokens } = await startIngesting()
  const content = new File([line.repeat(900_000)], 'large.txt')
  let chunks = 0
  const cutting = await flakyProxy(url, ({ method }) =>
    method === 'PATCH' && ++chunks > 1 ? { request: 0 } : undefined,
  )
  let resume = ''
  const first = new Ganglion({ url: cutting, key: tokens.app, retries: 1 }).kb('handbook')
  const onProgress = ({ uploadId = '' }) => {
    resume = uploadId
  }
  await expect(Promise.resolve(first.sources.upload(content, { onProgress }))).rejects.toBeInstanceOf(ConnectionError)
  const second = new Ganglion({ url, key: tokens.app }).kb('handbook')
  const sent: number[] = []
  const source = await second.sources.upload(content, { resume, onProgress: (progress) => sent.push(progress.sent) })
  expect(source).toMatchObject({ id: resume, filename: 'large.txt', fileSize: content.size })
  expect(sent[0]).toBeGreaterThan(0)
  expect((await second.sources.upload(content, { resume })).id).toBe(source.id)
  await expect(Promise.resolve(second.sources.upload(new Blob(['x']), { filename: 'x.txt', resume }))).rejects.toThrow(
    'bytes',
  )
})

test('a stream of unknown size is read first; one that is shorter than its size is an error', async () => {
  const { url, tokens } = await startIngesting()
  const { sources } = new Ganglion({ url, key: tokens.app }).kb('handbook')
  const stream = () => new Blob(['# Note\n\nText.\n']).stream()
  expect(await sources.upload(stream(), { filename: 'n.md', path: '/notes' })).toMatchObject({
    fileSize: 14,
    path: '/notes',
  })
  const short = sources.upload(stream(), { filename: 's.md', size: 100, chunkedAbove: 10 })
  await expect(Promise.resolve(short)).rejects.toThrow('The stream ended after 14 of 100 bytes.')
  await expect(Promise.resolve(sources.upload(stream()))).rejects.toThrow('filename')
})

test('corrections of one page by two people behind one key keep both, since they name the version that was read', async () => {
  const { url, tokens } = await startProduct()
  const kb = new Ganglion({ url, key: tokens.app }).kb('handbook')
  const content = 'Open from nine.\n\nClosed on Sunday.\n\nPhone 1234.'
  const { seqId = '' } = await kb.candidates.submit({ ...candidate, content, confidence: 1 })
  const [ada, ben] = [await kb.neurons.get(seqId), await kb.neurons.get(seqId)]
  await kb.neurons.correct(ada, { content: content.replace('nine', 'eight'), confidence: 1 })
  const sent = { content: content.replace('1234', '5678'), confidence: 1, metadata: { tags: ['desk'] } }
  expect(await kb.neurons.correct(ben, sent)).toMatchObject({ status: 'approved' })
  const both = content.replace('nine', 'eight').replace('1234', '5678')
  expect(await kb.neurons.get(seqId)).toMatchObject({ title: ada.title, content: both, tags: ['desk'] })
  const conflicting = kb.neurons.correct(ben, { content: content.replace('nine', 'ten'), confidence: 1 })
  await expect(conflicting).rejects.toMatchObject({ code: 'merge_conflict' })
})

async function eventsOf(stream: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const events: ChatEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

test('an answer whose stream breaks off goes on after the text that was given', async () => {
  const { url, tokens } = await startProduct()
  const { candidates } = new Ganglion({ url, key: tokens.curator }).kb('handbook')
  const { candidateId } = await candidates.submit({ ...candidate, content: 'The office is open from 9:00 to 17:00.' })
  await candidates.approve(candidateId)
  let asked = 0
  const cutting = await flakyProxy(url, ({ url: path }) =>
    path === '/api/v1/chat' && ++asked === 1 ? { response: 60 } : undefined,
  )
  const events = await eventsOf(
    new Ganglion({ url: cutting, key: tokens.app }).kb('handbook').chat.stream('When is the office open?'),
  )
  const given = events.map((event) => (event.type === 'delta' ? event.text : '')).join('')
  expect(asked).toBe(2)
  expect(events.at(-1)).toMatchObject({ type: 'done', answer: { answer: given, citations: [{ title: 'Hours' }] } })
})

test('an answer that is another one after a break is begun anew', async () => {
  const sse = { 'content-type': 'text/event-stream' }
  const delta = (given: string) => `event: delta\r\ndata: {"text":"${given}"}\r\n\r\n`
  const done = 'event: done\ndata: {"answer":"One three.","answeredBy":"x"}\n\n'
  const { url } = await scripted(
    { headers: sse, body: delta('One ') + delta('two'), isCut: true },
    { headers: sse, body: `: \n\n${delta('One')}${delta(' three.')}${done}` },
  )
  expect(await eventsOf(new Ganglion({ url }).chat.stream('?'))).toEqual([
    ...[{ type: 'delta', text: 'One ' }, { type: 'delta', text: 'two' }, { type: 'restart' }],
    ...[
      { type: 'delta', text: 'One three.' },
      { type: 'done', answer: { answer: 'One three.', answeredBy: 'x' } },
    ],
  ])
  const failing = await scripted({ headers: sse, body: 'event: error\ndata: {"error":"not_found"}\n\n' })
  const failure = eventsOf(new Ganglion({ url: failing.url }).chat.stream('?'))
  await expect(failure).rejects.toBeInstanceOf(NotFoundError)
  const whole = await scripted({ body: { answer: 'At once.' } })
  const once = await eventsOf(new Ganglion({ url: whole.url }).chat.stream('?'))
  expect(once).toEqual([{ type: 'done', answer: { answer: 'At once.' } }])
})

test('events go on after a break, without one that is lost or twice', async () => {
  const { url, tokens } = await startProduct()
  const ganglion = new Ganglion({ url, key: tokens.curator })
  let streams = 0
  const cutting = await flakyProxy(url, ({ url: path }) =>
    path?.startsWith('/api/v1/events') && ++streams < 3 ? { response: 400 } : undefined,
  )
  const submitted: string[] = []
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    submitted.push((await ganglion.kb('handbook').candidates.submit({ ...candidate, title })).candidateId)
  }
  const seen: GanglionEvent[] = []
  const followed = new Ganglion({ url: cutting, key: tokens.curator }).events({ kb: 'handbook', lastEventId: 0 })
  for await (const event of followed) {
    if (event.kind === 'candidate.created') seen.push(event)
    if (seen.length === submitted.length) break
  }
  expect(seen.map(({ candidateId }) => candidateId)).toEqual(submitted)
  expect(streams).toBe(3)
})

test('missed events are said, and a stream that is refused for good ends', async () => {
  const { url, tokens } = await startProduct()
  const { kb } = new Ganglion({ url, key: tokens.curator })
  const gaps: (GanglionEvent | Gap)[] = []
  for await (const event of new Ganglion({ url, key: tokens.curator }).events({ lastEventId: 99_999 })) {
    gaps.push(event)
    break
  }
  expect(gaps).toEqual([{ kind: 'gap', lastEventId: 99_999, resumedAfter: expect.any(Number) }])
  const asReader = new Ganglion({ url, key: tokens.reader }).events().next()
  await expect(asReader).rejects.toBeInstanceOf(InsufficientRoleError)
  expect(kb).toBeTypeOf('function')
})

test('a stream that begins with an id alone goes on from it', async () => {
  const sse = { 'content-type': 'text/event-stream' }
  const event = { id: 8, kind: 'kb.pushed' }
  const { url, seen } = await scripted(
    { headers: sse, body: 'retry: 1\nid: 7\n\n', isCut: true },
    { headers: sse, body: `id: 8\nevent: kb.pushed\ndata: ${JSON.stringify(event)}\n\n` },
  )
  expect(await new Ganglion({ url }).events().next()).toEqual({ done: false, value: event })
  expect(seen.map(({ lastEventId }) => lastEventId)).toEqual([undefined, '7'])
})

test('a list is its first page, and all its items', async () => {
  const pages = [{ candidates: [{ candidateId: 'a' }, { candidateId: 'b' }], nextCursor: 'next' }]
  const { url, seen } = await scripted(
    { body: pages[0] },
    { body: { candidates: [{ candidateId: 'c' }], nextCursor: null } },
  )
  const list = new Ganglion({ url }).kb('x').candidates.list({ status: 'pending' })
  const ids: string[] = []
  for await (const { candidateId } of list) ids.push(candidateId)
  expect(ids).toEqual(['a', 'b', 'c'])
  expect(await list).toEqual(pages[0])
  const path = '/api/v1/queue/candidates?kb=x&status=pending'
  expect(seen.map((request) => request.url)).toEqual([path, `${path}&cursor=next`])
})

test('a call that fails is one rejection, whichever way it is waited for', async () => {
  const rejections: unknown[] = []
  const note = (reason: unknown) => rejections.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const { url } = await scripted({ status: 404, body: { error: 'not_found' } })
  const { me } = new Ganglion({ url })
  await expect(me.get().withResponse()).rejects.toBeInstanceOf(NotFoundError)
  expect(await me.get().catch(() => 'caught')).toBe('caught')
  let ended = 0
  await expect(me.get().finally(() => ended++)).rejects.toBeInstanceOf(NotFoundError)
  expect([ended, rejections]).toEqual([1, []])
})

test('a webhook of the server is verified; another, an old and a changed one are refused', async () => {
  const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
  const received: { body: string; headers: IncomingMessage['headers'] }[] = []
  const url = await listening(
    createServer(async (request, response) => {
      received.push({ body: await text(request), headers: request.headers })
      response.end()
    }),
  )
  const event = { id: 7, kind: 'kb.pushed', tenantId: 't', kbId: 'k', at: '2026-01-08T09:12:44.000Z' } as const
  const message = { id: 'msg_w_7', type: event.kind, timestamp: event.at, data: event }
  const now = new Date()
  await postMessage({ url, secrets: [secret] }, message, { now, allowPrivate: true })
  await postMessage({ url, secrets: [secret] }, message, {
    now: new Date(now.getTime() - 3_600_000),
    allowPrivate: true,
  })
  const [fresh, old] = received
  if (fresh === undefined || old === undefined) throw new Error('Nothing was received.')
  expect(verify(fresh.body, fresh.headers, secret)).toEqual({ type: 'kb.pushed', timestamp: event.at, data: event })
  expect(
    verify(fresh.body, new Headers(Object.entries(fresh.headers).map(([name, value]) => [name, String(value)])), secret)
      .type,
  ).toBe('kb.pushed')
  expect(() => verify(old.body, old.headers, secret)).toThrow(WebhookVerificationError)
  expect(() => verify(fresh.body.replace('7', '8'), fresh.headers, secret)).toThrow(WebhookVerificationError)
  expect(() => verify(fresh.body, fresh.headers, `whsec_${btoa('another')}`)).toThrow(WebhookVerificationError)
})
