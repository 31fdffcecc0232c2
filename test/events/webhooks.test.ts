import { createServer, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { Webhook as Verifier } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import type { OpenContext } from '../../src/app/open-context.ts'
import { GanglionError } from '../../src/contract/errors.ts'
import { Urls } from '../../src/contract/urls.ts'
import { postMessage } from '../../src/events/webhooks/post-message.ts'
import { isPublicAddress, publicLookup } from '../../src/events/webhooks/public-address.ts'
import { nextAttempt } from '../../src/events/webhooks/retry-schedule.ts'
import { startWebhooks } from '../../src/events/webhooks/start-webhooks.ts'
import { WebhookSender } from '../../src/events/webhooks/webhook-sender.ts'
import { GitError } from '../../src/git/git-error.ts'
import { approveCandidate } from '../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { inTransaction } from '../../src/state/database/transaction.ts'
import type { NewEvent } from '../../src/state/event-store.ts'
import type { Webhook } from '../../src/state/webhooks.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { candidate, newTestBed } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'
import { listening } from '../support/listening.ts'
import { fc } from '../support/properties.ts'

type Taken = {
  id: string
  type: string
  data: Record<string, unknown>
  headers: Record<string, string>
  body: string
}

/** A receiver that checks each signature with the library; `answer` says what it answers. */
async function receiver(answer: (n: number) => number = () => 204) {
  const taken: Taken[] = []
  const asked: string[] = []
  let secret = ''
  const server = await listen(async (request, response) => {
    const body = await text(request)
    const status = answer(asked.length)
    asked.push(body)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const { 'webhook-id': id = '', 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
    // The library also compares the time with the machine's clock, which is not the sender's in every test.
    const isSigned = signature === new Verifier(secret).sign(id, new Date(Number(timestamp) * 1_000), body)
    const { type, data } = JSON.parse(body)
    if (isSigned && status < 300) taken.push({ id, type, data, headers, body })
    response.writeHead(status, { location: '/elsewhere' }).end('x'.repeat(100_000))
  })
  return { ...server, taken, asked, trust: (webhook: Webhook) => (secret = webhook.secret) }
}

async function listen(listener: RequestListener) {
  const origin = await listening(createServer(listener))
  return { url: `${origin}/hook`, port: Number(new URL(origin).port) }
}

/** A tenant whose events are told by hand, and a sender whose clock is set by hand. */
async function newSender(answer?: (n: number) => number) {
  const { ctx, kbId, app } = await newTestBed()
  const tenantId = app.tenantId
  await addSource(ctx, { id: 'd', kbId })
  await inTransaction(ctx.database.db, async (db) => {
    await db.deleteFrom('events').execute()
    await db.deleteFrom('event_counters').execute()
  })
  const time = { now: new Date() }
  const clocked: OpenContext = Object.assign(Object.create(ctx), {
    now: () => time.now,
    kb: (tenant: string, name: string) => ctx.kb(tenant, name),
  })
  const errors: unknown[] = []
  const options = { onError: (error: unknown) => errors.push(error), allowPrivate: true, timeout: 2_000 }
  const sender = new WebhookSender(clocked, options)
  const target = await receiver(answer)
  const add = async (changes: Partial<Webhook> = {}) => {
    const { last: cursor } = await ctx.events.range(tenantId)
    const wanted = { tenantId, kbId: null, url: target.url, kinds: [], cursor, ...changes }
    const webhook = await ctx.webhooks.create(wanted, time.now)
    target.trust(webhook)
    return webhook
  }
  const tell = (...kinds: NewEvent['kind'][]) => {
    const events = kinds.map((kind) => ({ kbId, kind, isCuratorOnly: false, data: { documentId: 'd' } }))
    return ctx.events.append(tenantId, events, time.now)
  }
  const later = (milliseconds: number) => {
    time.now = new Date(time.now.getTime() + milliseconds)
  }
  const find = async ({ id }: Webhook) => {
    const webhook = await ctx.webhooks.find(id)
    if (webhook === undefined) throw new Error('There is no webhook.')
    return webhook
  }
  return { ctx, clocked, kbId, tenantId, sender, target, add, tell, later, find, errors, time }
}

test('events are sent in order, signed, each with an id of its own', async () => {
  const { kbId, tenantId, sender, target, add, tell, find, errors, time } = await newSender()
  await tell('kb.pushed')
  const webhook = await add()
  await tell('source.uploaded', 'ingest.completed')
  await sender.deliver()
  expect(errors).toEqual([])
  for (const { body, headers } of target.taken) {
    expect(new Verifier(webhook.secret).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => new Verifier(webhook.secret).verify(`${body} `, headers)).toThrow('signature')
  }
  const at = time.now.toISOString()
  expect(target.taken.map(({ body }) => JSON.parse(body))).toEqual(
    ['source.uploaded', 'ingest.completed'].map((kind, index) => ({
      ...{ type: kind, timestamp: at },
      data: { id: 2 + index, kind, tenantId, kbId, at, documentId: 'd' },
    })),
  )
  expect(target.taken.map(({ id }) => id)).toEqual([`msg_${webhook.id}_2`, `msg_${webhook.id}_3`])
  expect(target.taken[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Ganglion' })
  expect(await find(webhook)).toMatchObject({ cursor: 3, failures: 0, note: null })
  await sender.deliver()
  expect(target.asked).toHaveLength(2)
})

test('only what is wanted is sent, and of what only curators may know nothing', async () => {
  const { ctx, kbId, tenantId, sender, target, add, tell } = await newSender()
  const webhook = await add({ kinds: ['ingest.failed', 'candidate.approved'], kbId })
  await add({ kbId: tenantId === kbId ? null : kbId, kinds: ['kb.pushed'], url: 'http://127.0.0.1:9/' })
  await tell('ingest.started', 'ingest.failed', 'ingest.completed')
  target.trust(webhook)
  const hidden = { kbId, isCuratorOnly: true, data: { candidateId: 'c', seqId: 'secret' } }
  const events: NewEvent[] = [
    { ...hidden, kind: 'candidate.approved' },
    { ...hidden, kind: 'neuron.created' },
  ]
  await ctx.events.append(tenantId, events, new Date())
  await sender.deliver()
  expect(target.taken.map(({ type }) => type)).toEqual(['ingest.failed'])
  expect(JSON.stringify(target.taken)).not.toContain('secret')
})

test('what is not taken is sent again with the same id, later and later, and holds back what follows', async () => {
  const { sender, target, add, tell, later, find } = await newSender((n) => (n < 3 ? 500 : 200))
  const webhook = await add()
  await tell('kb.pushed', 'ingest.failed')
  const asked: number[] = []
  for (const wait of [0, 4_999, 1, 19_999, 1, 80_000]) {
    later(wait)
    await sender.deliver()
    asked.push(target.asked.length)
  }
  expect(asked).toEqual([1, 1, 2, 2, 3, 5])
  expect(target.taken.map(({ id }) => id)).toEqual([`msg_${webhook.id}_1`, `msg_${webhook.id}_2`])
  expect(await find(webhook)).toMatchObject({ cursor: 2, failures: 0, failingSince: null, dueAt: null, note: null })
})

test('after three days a webhook is given up, with a note, until it is replayed', async () => {
  let isDown = true
  const { ctx, sender, target, add, tell, later, find } = await newSender(() => (isDown ? 503 : 200))
  const webhook = await add()
  await tell('kb.pushed', 'ingest.failed')
  let hours = 0
  while ((await find(webhook)).isEnabled && hours < 200) {
    await sender.deliver()
    later(60 * 60_000)
    hours++
  }
  expect(hours).toBeGreaterThanOrEqual(72)
  expect(hours).toBeLessThanOrEqual(72 + 13)
  const note = 'The receiver answered 503. It is given up; "ganglion webhook replay" begins again.'
  expect(await find(webhook)).toMatchObject({ isEnabled: false, cursor: 0, note })
  isDown = false
  const before = target.asked.length
  await sender.deliver()
  expect(target.asked.length).toBe(before)
  await ctx.webhooks.change(webhook.id, { isEnabled: true, cursor: 1 }, '')
  await sender.deliver()
  expect(target.taken.map(({ type }) => type)).toEqual(['ingest.failed'])
  expect(await find(webhook)).toMatchObject({ isEnabled: true, note: null, cursor: 2 })
})

test('a receiver that is gone is given up at once', async () => {
  const { sender, add, tell, find } = await newSender(() => 410)
  const webhook = await add()
  await tell('kb.pushed')
  await sender.deliver()
  expect(await find(webhook)).toMatchObject({ isEnabled: false, failures: 1 })
})

test('attempts follow after 5 seconds, and at last every 12 hours for three days', () => {
  const now = new Date('2026-03-01T00:00:00Z')
  const waits = (failures: number) => ((nextAttempt(failures, null, now)?.getTime() ?? 0) - now.getTime()) / 1_000
  expect([1, 2, 3, 4, 5, 6, 7, 8, 20].map(waits)).toEqual([5, 20, 80, 320, 1_280, 5_120, 20_480, 43_200, 43_200])
  expect(nextAttempt(9, '2026-02-26T00:00:01Z', now)).toBeDefined()
  expect(nextAttempt(9, '2026-02-26T00:00:00Z', now)).toBeUndefined()
})

test('a clock that is set back does not keep a webhook waiting', async () => {
  const { sender, target, add, tell, later } = await newSender((n) => (n < 1 ? 500 : 200))
  await add()
  await tell('kb.pushed')
  await sender.deliver()
  later(-30 * 24 * 60 * 60_000)
  await sender.deliver()
  expect(target.asked).toHaveLength(2)
})

test('redirects are not followed', async () => {
  const { sender, target, add, tell, find } = await newSender(() => 307)
  const webhook = await add()
  await tell('kb.pushed')
  await sender.deliver()
  expect(target.asked).toHaveLength(1)
  expect(await find(webhook)).toMatchObject({ cursor: 0, note: 'The receiver answered 307.' })
})

test('a receiver that never answers, or never ends its answer, keeps no other waiting', async () => {
  const { sender, target, add, tell, find } = await newSender()
  const silent = await add({ url: (await listen(() => {})).url })
  const endless = await add({ url: (await listen((_, response) => void response.writeHead(200).write('x'))).url })
  const dead = await add({ url: 'http://127.0.0.1:9/' })
  const webhook = await add()
  await tell('kb.pushed')
  let isOver = false
  const delivering = sender.deliver().then(() => {
    isOver = true
  })
  await eventually(() => expect(target.taken).toHaveLength(1))
  expect(isOver).toBe(false)
  await delivering
  expect((await find(silent)).note).toBe('The receiver did not answer in time.')
  expect((await find(dead)).note).toMatch(/^The receiver cannot be reached: \w+\.$/)
  expect([(await find(webhook)).cursor, (await find(endless)).cursor]).toEqual([1, 1])
})

test('a stop ends what is under way, which does not count as a failure', async () => {
  const { sender, add, tell, find } = await newSender()
  const asked = Promise.withResolvers<void>()
  const webhook = await add({ url: (await listen(() => asked.resolve())).url })
  await tell('kb.pushed')
  const delivering = sender.deliver()
  await asked.promise
  await sender.stop()
  await delivering
  expect(await find(webhook)).toMatchObject({ isEnabled: true, cursor: 0, failures: 0, note: null })
})

test('what is replayed while it is sent is sent again', async () => {
  const { ctx, sender, target, add, tell } = await newSender()
  const webhook = await add()
  await tell('kb.pushed', 'ingest.failed')
  await sender.deliver()
  await ctx.webhooks.change(webhook.id, { isEnabled: true, cursor: 0 }, '')
  await sender.deliver()
  expect(target.taken.map(({ data }) => data.id)).toEqual([1, 2, 1, 2])
  expect(target.taken[0]?.id).toBe(target.taken[2]?.id)
})

test('what is disabled while it is sent waits, is not behind, and goes on once it is served again', async () => {
  const { ctx, kbId, sender, add, tell, find } = await newSender()
  const asked: number[] = []
  const target = await listen(async (request, response) => {
    asked.push(JSON.parse(await text(request)).data.id)
    if (asked.length === 1) await ctx.knowledgeBases.setDisabled({ id: kbId }, new Date())
    response.writeHead(204).end()
  })
  const webhook = await add({ kbId, url: target.url })
  await tell('kb.pushed', 'ingest.failed')
  await sender.deliver()
  expect([asked, (await find(webhook)).cursor, await ctx.webhooks.lag()]).toEqual([[1], 0, 0])
  await ctx.knowledgeBases.setDisabled({ id: kbId }, null)
  expect(await ctx.webhooks.lag()).toBe(2)
  await sender.deliver()
  expect([asked, (await find(webhook)).cursor]).toEqual([[1, 1, 2], 2])
})

test('nothing is left out because a knowledge base cannot be opened just then', async () => {
  const { ctx, clocked, sender, target, add, tell, find, errors } = await newSender()
  const webhook = await add()
  await tell('ingest.completed', 'ingest.failed')
  const away = new GanglionError('unavailable')
  const opens = (kb: OpenContext['kb']) => Object.assign(clocked, { kb })
  opens(() => Promise.reject(away))
  await sender.deliver()
  expect([errors, (await find(webhook)).cursor]).toEqual([[away], 0])
  opens((tenant, name) => ctx.kb(tenant, name))
  await sender.deliver()
  expect(target.taken.map(({ data }) => data.id)).toEqual([1, 2])
  // It is told of no longer, and keeps nothing else waiting.
  opens(() => Promise.reject(new GitError('bad-ref', 'a')))
  await tell('ingest.failed')
  await sender.deliver()
  expect([(await find(webhook)).cursor, target.asked.length]).toEqual([3, 2])
})

test('a cursor beyond the last event, as after an old backup, goes back to it', async () => {
  const { sender, target, add, tell, find } = await newSender()
  const webhook = await add({ cursor: 500 })
  await tell('kb.pushed')
  await sender.deliver()
  expect([target.taken.length, (await find(webhook)).cursor]).toEqual([0, 1])
  await tell('ingest.failed')
  await sender.deliver()
  expect(target.taken.map(({ data }) => data.id)).toEqual([2])
})

test('events are sent as they happen, and what was not sent before a stop is sent after it', async () => {
  const { ctx, target, add, tell } = await newSender()
  await add()
  const start = () => startWebhooks(ctx, { allowPrivate: true, onError: () => {} })
  const stop = start()
  await tell('kb.pushed')
  await eventually(() => expect(target.taken).toHaveLength(1))
  await tell('ingest.started')
  await eventually(() => expect(target.taken).toHaveLength(2))
  await stop()
  await tell('ingest.failed')
  expect(target.taken).toHaveLength(2)
  onTestFinished(start())
  await eventually(() => expect(target.taken.at(-1)?.type).toBe('ingest.failed'))
})

const message = { id: 'msg_1', type: 'webhook.test', timestamp: '2026-03-01T10:00:00.000Z', data: {} }
const secret = `whsec_${Buffer.alloc(32).toString('base64')}`

test.each([
  ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1'],
  ...['255.255.255.255', '198.18.0.1', '[::1]', '[::]', '[fe80::1]', '[fd00::1]', '[ff02::1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:a00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::127.0.0.1]', '0x7f.1', '2130706433', 'localhost'],
])('%s is not sent to', async (host) => {
  let asked = 0
  const { port } = await listen((_, response) => void response.end(String(asked++)))
  const options = { now: new Date(), allowPrivate: false, timeout: 2_000 }
  const { status, note } = await postMessage({ url: `http://${host}:${port}/`, secrets: [secret] }, message, options)
  expect({ status, note, asked }).toEqual({
    ...{ status: undefined, asked: 0 },
    note: expect.stringMatching(/has no public address\.$/),
  })
})

test('a name is looked up when it is connected to, and only then: what it meant before counts for nothing', async () => {
  let [asked, resolved] = [0, 0]
  const { port } = await listen((_, response) => void response.end(String(asked++)))
  const resolve = async () => [{ address: resolved++ === 1 ? '1.1.1.1' : '127.0.0.1', family: 4 }]
  const options = { now: new Date(), allowPrivate: false, resolve }
  const receipt = await postMessage({ url: `http://rebind.example:${port}/`, secrets: [secret] }, message, options)
  expect(receipt).toEqual({ status: undefined, note: 'rebind.example has no public address.' })
  expect([resolved, asked]).toEqual([1, 0])
})

test('of several addresses only public ones are connected to', async () => {
  const addresses = ['127.0.0.1', '1.1.1.1', '::1', '2606:4700:4700::1111'].map((address) => {
    return { address, family: address.includes(':') ? 6 : 4 }
  })
  const lookup = promisify(publicLookup(async () => addresses))
  expect(await lookup('many.example', { all: true })).toEqual([addresses[1], addresses[3]])
  expect(await lookup('many.example', {})).toBe('1.1.1.1')
})

test('no address of a private range is public, however it is written', () => {
  const privates: [number, number][] = [
    [10, 8],
    [127, 8],
    [0, 8],
    [240, 4],
  ]
  fc.assert(
    fc.property(fc.constantFrom(...privates), fc.nat(0xffffff), ([first], rest) => {
      const address = [first, rest >> 16, (rest >> 8) & 255, rest & 255].join('.')
      const hex = [first * 256 + (rest >> 16), rest & 0xffff].map((part) => part.toString(16)).join(':')
      for (const written of [address, `::ffff:${address}`, `::ffff:${hex}`])
        expect(isPublicAddress(written)).toBe(false)
    }),
  )
  const others = [
    '0.1.2.3',
    '100.127.0.1',
    '192.0.0.8',
    '198.19.255.255',
    '203.0.113.9',
    '::2',
    '100:0:0:1::1',
    '4000::1',
  ]
  for (const address of [...others, '2001:db8::1', '3fff::1', '5f00::1', 'fec0::1', 'fe80::1%eth0', 'localhost', '']) {
    expect([address, isPublicAddress(address)]).toEqual([address, false])
  }
  for (const address of ['1.1.1.1', '8.8.8.8', '2606:4700:4700::1111', '2a00:1450::1', '::ffff:1.1.1.1']) {
    expect([address, isPublicAddress(address)]).toEqual([address, true])
  }
})

test('no IPv6 address that stands for an IPv4 address is public, whatever that address is', () => {
  const hex = (high: number, low: number) => `${high.toString(16)}:${low.toString(16)}`
  fc.assert(
    fc.property(fc.nat(0xffff), fc.nat(0xffff), (high, low) => {
      const dotted = [high >> 8, high & 255, low >> 8, low & 255].join('.')
      const teredo = `2001:0:${hex(high, low)}::${hex(high ^ 0xffff, low ^ 0xffff)}`
      const nat64 = [`64:ff9b::${dotted}`, `64:ff9b:1::${hex(high, low)}`]
      const written = [`::${dotted}`, `::${hex(high, low)}`, `::ffff:0:${dotted}`, `2002:${hex(high, low)}::1`]
      for (const address of [...written, ...nat64, teredo])
        expect([address, isPublicAddress(address)]).toEqual([address, false])
    }),
  )
})

test('Slack and Teams get an event as they show it, with nothing that they would take for marks', async () => {
  const { ctx, sender, add, find, target, kbId, tenantId, time, clocked } = await newSender()
  Object.assign(clocked, { urls: new Urls('https://kb.example.org') })
  await ctx.database.db.updateTable('sources').set({ filename: '<!channel> & *fees*.md' }).execute()
  const webhooks = [await add({ format: 'slack' }), await add({ format: 'teams' })]
  const app: Caller = { id: 'key:app', name: 'App', tenantId, role: 'app', connectors: [] }
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Not yet a page' }))
  await eventually(async () => expect(await ctx.events.after(tenantId, 0, 9)).toHaveLength(1))
  const data = { documentId: 'd', error: 'It is <broken>.' }
  await ctx.events.append(tenantId, [{ kbId, kind: 'ingest.failed', isCuratorOnly: false, data }], time.now)
  await sender.deliver()
  const bodies = target.asked.map((body) => JSON.parse(body))
  const failed = 'handbook: ingest failed “<!channel> & *fees*.md”: It is <broken>.'
  const link = `https://kb.example.org/queue/${candidateId}`
  const plain = (text: string) => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } })
  expect(bodies.filter(({ type }) => type === undefined)).toEqual([
    {
      text: 'handbook: candidate created',
      blocks: [
        plain('handbook: candidate created'),
        { type: 'context', elements: [{ type: 'mrkdwn', text: `<${link}|Open it>` }] },
      ],
    },
    {
      text: 'handbook: ingest failed “&lt;!channel&gt; &amp; *fees*.md”: It is &lt;broken&gt;.',
      blocks: [plain(failed)],
    },
  ])
  const cards = bodies.flatMap(({ type, attachments }) => (type === 'message' ? attachments : []))
  expect(cards.map(({ content }) => [content.body, content.actions])).toEqual([
    [
      [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'handbook: candidate created' }] }],
      [expect.objectContaining({ url: link })],
    ],
    [[{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: failed }] }], []],
  ])
  expect((await Promise.all(webhooks.map(find))).map(({ cursor, failures }) => [cursor, failures])).toEqual([
    [2, 0],
    [2, 0],
  ])
})

test('a chat is told the title of the page, not the one that a curator took out', async () => {
  const { ctx, sender, add, target, tenantId } = await newSender()
  await add({ format: 'slack' })
  const app: Caller = { id: 'key:app', name: 'App', tenantId, role: 'app', connectors: [] }
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Layoffs in May' }))
  await approveCandidate(ctx, { ...app, id: 'key:ada', role: 'curator' }, candidateId, { title: 'Plans' })
  await eventually(async () => expect(await ctx.events.after(tenantId, 0, 9)).toHaveLength(3))
  await sender.deliver()
  expect(target.asked.map((body) => JSON.parse(body).text)).toEqual([
    'handbook: candidate created',
    'handbook: candidate approved “Plans”',
    'handbook: neuron created “Plans”',
  ])
})
