import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenContext, openContext } from '../../../src/app/open-context.ts'
import type { TestEffects } from '../../../src/contract/answer-tests.ts'
import { GanglionError } from '../../../src/contract/errors.ts'
import { buildServer } from '../../../src/http/server.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { someOf } from '../../support/properties.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'

const unbroken: TestEffects = { state: 'tested', tests: 1, broken: [], mended: [], changed: [] }
const kb = '/api/v1/knowledge-bases/handbook'

type Answer = { status: number; body: unknown }
type Send = (url: string, body: unknown, type?: string) => Promise<Answer>

/** A request of each operation that takes an `Idempotency-Key`: `word` is in nothing else that it makes. */
type Operation = { send: (send: Send, word: string, candidateId: string) => Promise<Answer>; makes?: number }

const input = (word: string) => ({ kb: 'handbook', kind: 'external-feed', title: `On ${word}`, content: `Of ${word}.` })
/** An answer but for its secret, which only the first one has. */
const withoutSecret = async (answer: Promise<Answer>): Promise<Answer> => {
  const { status, body } = await answer
  const { secret: _, token: __, ...rest } = Object(body)
  return { status, body: rest }
}
const operations: Record<string, Operation> = {
  createKey: { send: (send, word) => withoutSecret(send('/api/v1/keys', { name: word, role: 'app' })) },
  createWebhook: {
    send: (send, word) => withoutSecret(send('/api/v1/webhooks', { url: `https://hooks.example.org/${word}` })),
  },
  submitCandidate: { send: (send, word) => send('/api/v1/queue/candidates', { ...input(word), confidence: 0.1 }) },
  'submitCandidate that the policy approves': {
    send: (send, word) => send('/api/v1/queue/candidates', { ...input(word), confidence: 1 }),
  },
  submitCandidates: {
    send: (send, word) =>
      send('/api/v1/queue/candidates/batch', {
        candidates: [0.1, 1].map((confidence) => ({
          ...{ ...input(word), title: `On ${word} ${confidence}`, content: `Of ${word} ${confidence}.`, confidence },
        })),
      }),
    makes: 2,
  },
  commentCandidate: {
    send: (send, word, id) => send(`/api/v1/queue/candidates/${id}/comment`, { comment: `Of ${word}.` }),
  },
  submitFeedback: {
    send: (send, word) => send(`${kb}/reader-feedback`, { vote: 'up', question: `Of ${word}?`, answer: 'Yes.' }),
  },
  chat: { send: (send, word) => send('/api/v1/chat', { kb: 'handbook', message: `What of ${word}?` }) },
  uploadSource: {
    send: (send, word) => {
      const file = `--b\r\ncontent-disposition: form-data; name="file"; filename="${word}.txt"\r\n\r\nOf ${word}.\r\n--b--\r\n`
      return send(`${kb}/documents/upload`, file, 'multipart/form-data; boundary=b')
    },
  },
  beginUpload: {
    send: (send, word) => send(`${kb}/documents/upload/init`, { filename: `${word}.txt`, fileSize: 9 }),
  },
}

/** An open data directory behind a server, and what may fail in it. */
async function opened(dataDir: string) {
  const ctx = await openContext({ dataDir, threads })
  onTestFinished(() => ctx.close())
  ctx.tests.effects = () => Promise.resolve(unbroken)
  const server = await buildServer(ctx, { rateReads: 1e6, rateWrites: 1e6, rateChats: 1e6 })
  onTestFinished(() => server.close())
  return { ctx, server }
}

async function bed() {
  const dataDir = tempDir()
  const { ctx, server } = await opened(dataDir)
  const { gitDir } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const { id: tenantId } = await ctx.tenants.ensure('acme', ctx.now())
  const tested = '- question: Who is paged?\n  contains: [the lead]\n'
  new NativeWriter(gitDir).commit('refs/heads/main', new Map([['tests/answers.yaml', tested]]))
  const key = { tenantId, name: 'Ada', role: 'curator' as const, isAdmin: true, connectors: [], expiresAt: null }
  const { token } = await ctx.apiKeys.create(key, ctx.now())
  const sender = (server: Awaited<ReturnType<typeof opened>>['server'], idempotencyKey: string): Send => {
    return async (url, body, type = 'application/json') => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'idempotency-key': idempotencyKey }
      const payload = typeof body === 'string' ? body : JSON.stringify(body)
      const response = await server.inject({ method: 'POST', url, headers, payload })
      return { status: response.statusCode, body: response.json() }
    }
  }
  const { body } = await sender(server, 'first')('/api/v1/queue/candidates', input('the first'))
  const { candidateId } = body as { candidateId: string }
  return { ctx, server, dataDir, tenantId, sender, candidateId }
}

type When = 'before' | 'after'

/** Calls `act` at the n-th step of what changes the state, before or after it is done. @returns how to stop, with the steps so far */
async function atStep(ctx: OpenContext, tenantId: string, n: number, when: When, act: () => void) {
  const { repository, projection } = await ctx.kb(tenantId, 'handbook')
  const stores = [ctx.sources, ctx.uploads, ctx.chatSessions, ctx.jobs, ctx.blobs, ctx.events]
  const named: [object, string][] = [
    ...['writeObjects', 'updateRef'].map((name): [object, string] => [repository, name]),
    [projection, 'commit'],
    ...['create', 'list', 'find'].flatMap((name): [object, string][] => [
      [ctx.apiKeys, name],
      [ctx.webhooks, name],
    ]),
    // The others release the key whatever happens.
    ...['finishWithin', 'answer'].map((name): [object, string] => [ctx.idempotency, name]),
    ...stores.flatMap((store) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(store))
        .filter((name) => !['constructor', 'inTransaction', 'listen', 'wake', 'arrivals'].includes(name))
        .map((name): [object, string] => [store, name]),
    ),
  ]
  let steps = 0
  const undo: (() => void)[] = []
  for (const [owner, name] of named) {
    const original = Reflect.get(owner, name)
    if (typeof original !== 'function') continue
    Object.defineProperty(owner, name, {
      configurable: true,
      value: (...args: unknown[]) => {
        const isIt = ++steps === n
        if (isIt && when === 'before' && owner === projection) act()
        else if (isIt && when === 'before')
          return Promise.resolve()
            .then(act)
            .then(() => original.apply(owner, args))
        const result = original.apply(owner, args)
        if (!isIt || when === 'before') return result
        if (!(result instanceof Promise)) return void act()
        return result.then((value) => {
          act()
          return value
        })
      },
    })
    undo.push(() => Reflect.deleteProperty(owner, name))
  }
  return () => {
    for (const restore of undo) restore()
    return steps
  }
}

/** Counts the things that contain a word. */
async function count({ database, kb: open }: OpenContext, tenantId: string, word: string): Promise<number> {
  const { projection, repository } = await open(tenantId, 'handbook')
  let found = 0
  for (const { blob } of projection.read.all`SELECT blob FROM candidates`)
    found += (await repository.readText(String(blob))).includes(word) ? 1 : 0
  const { db } = database
  const tables = await Promise.all([
    db.selectFrom('chat_turns').select('question as text').execute(),
    db.selectFrom('sources').select('filename as text').execute(),
    db.selectFrom('uploads').select('filename as text').execute(),
    db.selectFrom('api_keys').select('name as text').execute(),
    db.selectFrom('webhooks').select('url as text').execute(),
  ])
  return found + tables.flat().filter(({ text }) => text.includes(word)).length
}

let words = 0
const newWord = () => `w${words++}x`

/** The steps of an operation where nothing fails. */
async function stepsOf({ ctx, server, tenantId, sender, candidateId }: Awaited<ReturnType<typeof bed>>, name: string) {
  const word = newWord()
  const stop = await atStep(ctx, tenantId, 0, 'before', () => {})
  const { status } = (await operations[name]?.send(sender(server, word), word, candidateId)) ?? {}
  expect([name, status]).toEqual([name, expect.toBeOneOf([200, 201])])
  return stop()
}

const isDone = ({ status, body }: Answer) =>
  status < 300 && !((body as { results?: { status: number }[] }).results ?? []).some(({ status }) => status >= 300)

test('every operation that takes an Idempotency-Key is among those of the next tests', async () => {
  const { server } = await bed()
  const { paths } = (await server.inject({ url: '/openapi.json' })).json() as { paths: Record<string, object> }
  const keyed = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ parameters = [] }) => parameters.some(({ name }: { name: string }) => /^idempotency-key$/i.test(name)))
    .map(({ operationId }) => operationId)
  expect(keyed.toSorted()).toEqual([...new Set(Object.keys(operations).map((name) => name.split(' ')[0]))].toSorted())
})

test('an error at any step, and the same request again: one thing, one answer', async () => {
  const made = await bed()
  const { ctx, server, tenantId, sender, candidateId } = made
  const cases: [string, number, When][] = []
  for (const name of Object.keys(operations)) {
    const steps = await stepsOf(made, name)
    for (let n = 1; n <= steps; n++) cases.push([name, n, 'before'], [name, n, 'after'])
  }
  for (const [name, n, when] of someOf(cases, 80)) {
    const { send, makes = 1 } = operations[name] ?? expect.fail(name)
    const word = newWord()
    const stop = await atStep(ctx, tenantId, n, when, () => {
      throw n % 2 === 0 ? new Error('EIO') : new GanglionError('unavailable')
    })
    const place = `${name}, ${when} step ${n}`
    const first = await send(sender(server, word), word, candidateId)
    const between = await count(ctx, tenantId, word)
    stop()
    // What is committed is the answer.
    expect([place, isDone(first), between]).toEqual([place, between === makes, expect.any(Number)])
    const again = await send(sender(server, word), word, candidateId)
    expect([place, await send(sender(server, word), word, candidateId)]).toEqual([place, again])
    if (isDone(first)) expect([place, again]).toEqual([place, first])
    expect([place, isDone(again), await count(ctx, tenantId, word)]).toEqual([place, true, makes])
  }
})

test('the process ends at any step, and the same request again: one thing, one answer', async () => {
  const made = await bed()
  const { ctx, server, dataDir, tenantId, sender, candidateId } = made
  const cases: [string, number, When][] = []
  for (const name of Object.keys(operations)) {
    const steps = await stepsOf(made, name)
    for (let n = 1; n <= steps; n++) cases.push([name, n, 'before'], [name, n, 'after'])
  }
  for (const [name, n, when] of someOf(cases, 24)) {
    const { send, makes = 1 } = operations[name] ?? expect.fail(name)
    const word = newWord()
    const image = join(tempDir(), 'data')
    const stop = await atStep(ctx, tenantId, n, when, () => cpSync(dataDir, image, { recursive: true }))
    await send(sender(server, word), word, candidateId)
    if (stop() < n) continue
    const restarted = await opened(image)
    const place = `${name}, ${when} step ${n}`
    const again = await send(sender(restarted.server, word), word, candidateId)
    expect([place, isDone(again)]).toEqual([place, true])
    expect([place, await send(sender(restarted.server, word), word, candidateId)]).toEqual([place, again])
    expect([place, await count(restarted.ctx, tenantId, word)]).toEqual([place, makes])
    await restarted.server.close()
    await restarted.ctx.close()
  }
})
