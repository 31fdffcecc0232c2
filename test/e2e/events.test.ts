import { once } from 'node:events'
import { createServer, request as httpRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { startNode } from '../support/process.ts'
import { outsideWriter } from './git/outside-writer.ts'
import { type Product, startProduct } from './support.ts'

const Told = z.looseObject({ id: z.int(), kind: z.string(), tenantId: z.uuid(), kbId: z.uuid(), at: z.iso.datetime() })
type Told = z.infer<typeof Told>

/** The platform's own EventSource, which cannot send a token: it asks by way of a proxy that adds one, and that can cut it off. */
async function eventSource(url: string, token: string, query = '') {
  const open = new Map<ServerResponse, () => void>()
  const ids: (string | undefined)[] = []
  const proxy = createServer((incoming, response) => {
    const headers = { ...incoming.headers, host: new URL(url).host, authorization: `Bearer ${token}` }
    ids.push(incoming.headers['last-event-id']?.toString())
    const forwarded = httpRequest(`${url}${incoming.url}`, { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.on('error', () => {}).pipe(response)
      // Node's EventSource gives up where the connection breaks, and goes on only where the answer ends.
      open.set(response, () => answer.unpipe(response) && response.end())
    })
    forwarded.on('error', () => response.destroy())
    response.on('close', () => {
      open.delete(response)
      forwarded.destroy()
    })
    forwarded.end()
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close().closeAllConnections())
  const { port } = proxy.address() as AddressInfo
  const kinds = ['created', 'approved', 'dismissed', 'reopened'].map((name) => `candidate.${name}`)
  const script = `
    setInterval(() => {}, 1000) // a source that waits to ask again does not keep the process alive
    const source = new EventSource(process.argv[1])
    const tell = ({ type, lastEventId, data }) => console.log(JSON.stringify({ type, lastEventId, data }))
    for (const kind of process.argv.slice(2)) source.addEventListener(kind, tell)
    source.addEventListener('open', () => console.log(JSON.stringify({ type: 'open' })))`
  const child = startNode([
    ...['--experimental-eventsource', '--input-type=module', '-e', script],
    `http://127.0.0.1:${port}/api/v1/events${query}`,
    ...kinds,
    ...['neuron.created', 'neuron.updated', 'neuron.deleted', 'kb.pushed', 'gap'],
  ])
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
  const Line = z.object({ type: z.string(), lastEventId: z.string().optional(), data: z.string().optional() })
  const lines = () =>
    output
      .split('\n')
      .slice(0, -1)
      .map((line) => Line.parse(JSON.parse(line)))
  const opened = (times: number) => {
    const count = () => expect(lines().filter(({ type }) => type === 'open').length).toBeGreaterThanOrEqual(times)
    return eventually(count)
  }
  await opened(1)
  return {
    /** The events so far; each is what it says it is. */
    told: (): Told[] =>
      lines()
        .filter(({ type }) => type !== 'open')
        .map(({ type, lastEventId, data = '' }) => {
          const told = Told.parse(JSON.parse(data))
          expect([type, lastEventId]).toEqual([told.kind, String(told.id)])
          return told
        }),
    /** The header of each of its requests. */
    ids,
    opened,
    cut: () => {
      for (const end of open.values()) end()
    },
  }
}

async function submit({ request, tokens }: Product, title: string, confidence = 0): Promise<string> {
  const body = { knowledgeBaseId: 'handbook', kind: 'external-feed', title, content: 'Text.', confidence }
  return String((await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body })).body.candidateId)
}

const approve = ({ request, tokens }: Product, id: string) =>
  request('POST', `/api/v1/queue/candidates/${id}/approve`, { as: tokens.curator, body: {} })

/** All of the tenant's log, once everything is told. */
async function wholeLog({ ctx }: Product): Promise<{ id: number; kind: string }[]> {
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const kb = await ctx.kb(tenantId, 'handbook')
  const heads = kb.projection.heads(kb.projection.read)
  await eventually(async () => expect(await ctx.events.loggedHeads(kb.identity.id)).toEqual(heads))
  return ctx.events.after(tenantId, 0, 100_000)
}

test('an EventSource that is cut off again and again has every event once, in order', async () => {
  const product = await startProduct()
  const source = await eventSource(product.url, product.tokens.curator)
  const writer = await outsideWriter(product.ctx, product.kbId)
  const { request, tokens } = product
  source.cut() // before any event: it goes on from where its first stream began
  for (let round = 0; round < 4; round++) {
    const ids = await Promise.all([0, 1, 2, 3].map((n) => submit(product, `Note ${round} ${n}`, n === 0 ? 1 : 0)))
    const [, second = '', third = '', fourth = ''] = ids
    await Promise.all([approve(product, second), approve(product, third)])
    await request('POST', `/api/v1/queue/candidates/${fourth}/dismiss`, { as: tokens.curator, body: {} })
    const seqId = `handbook_0000090${round}`
    await writer.commit(new Map([[`neurons/${round}.md`, `---\nseqId: ${seqId}\n---\n\nText.\n`]]))
    await request('GET', `/api/v1/neurons/handbook/${seqId}`, { as: tokens.reader })
    await source.opened(round + 2)
    source.cut()
  }
  const log = await wholeLog(product)
  await eventually(() => expect(source.told().length).toBeGreaterThanOrEqual(log.length))
  expect(source.told().map(({ id, kind }) => ({ id, kind }))).toEqual(log.map(({ id, kind }) => ({ id, kind })))
  expect(log.length).toBeGreaterThan(4 * 12)
  expect(source.ids[0]).toBeUndefined()
  expect(source.ids[1]).toBe('0')
})

test('what anybody pushes into the repository is told, with the commit', async () => {
  const product = await startProduct()
  const source = await eventSource(product.url, product.tokens.app, '?kb=handbook')
  const writer = await outsideWriter(product.ctx, product.kbId)
  const commit = await writer.commit(new Map([['neurons/a.md', '---\nseqId: handbook_00000001\n---\n\nText.\n']]))
  await product.request('GET', '/api/v1/knowledge-bases/handbook/neurons', { as: product.tokens.reader })
  await eventually(() => expect(source.told().length).toBeGreaterThanOrEqual(2))
  expect(source.told().slice(0, 2)).toMatchObject([
    { kind: 'kb.pushed', commit, kbId: product.kbId },
    { kind: 'neuron.created', commit, seqId: 'handbook_00000001' },
  ])
})

test('a reader key gets no stream, and a key of another tenant no other events than its own', async () => {
  const product = await startProduct()
  const { request, tokens, newKey, kbId } = product
  expect((await request('GET', '/api/v1/events', { as: tokens.reader })).body.error).toBe('insufficient_role')
  const stranger = await newKey('globex', 'curator')
  for (const kb of ['handbook', kbId]) {
    expect((await request('GET', `/api/v1/events?kb=${kb}`, { as: stranger })).status).toBe(404)
  }
  const theirs = await eventSource(product.url, stranger)
  const ours = await eventSource(product.url, tokens.app)
  await submit(product, 'Note')
  await eventually(() => expect(ours.told()).toHaveLength(1))
  theirs.cut()
  await theirs.opened(2)
  expect(theirs.told()).toEqual([])
})
