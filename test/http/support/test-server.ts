import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MockInstance, onTestFinished, vi } from 'vitest'
import { type AppContext, type OpenContext, openContext } from '../../../src/app/open-context.ts'
import { Neuron } from '../../../src/contract/neurons.ts'
import { Role } from '../../../src/contract/vocabulary.ts'
import { buildServer, type ServerOptions } from '../../../src/http/server.ts'
import type { ZodFastify } from '../../../src/http/zod-compilers.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { MemoryCounter } from '../../../src/state/rate-counter.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { threads } from '../../support/threads.ts'
import { validateAnswer } from './openapi-validate.ts'

/** A Neuron of the knowledge base `handbook`. */
export const seqId = 'handbook_00000042'
export const neuronPath = `/api/v1/neurons/handbook/${seqId}`

export type Request = {
  /** A bearer token: the name of a role. */
  as?: Role
  headers?: Record<string, string>
  /** Sent as JSON, or as it is where it is text. */
  body?: unknown
}

export type TestAnswer = {
  status: number
  headers: Record<string, string | undefined>
  text: string
  /** The body, where it is JSON. */
  json: unknown
}

export type TestServer = {
  app: ZodFastify
  ctx: AppContext
  /** Id of `handbook`. */
  kbId: string
  /** Acts on candidates, in order. */
  acts: string[]
  /** The seeded Neuron, as a curator reads it. */
  neuron: Neuron
  /** Asks in process; every answer is checked against the API's description. */
  request(
    method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'TRACE' | 'PROPFIND',
    url: string,
    request?: Request,
  ): Promise<TestAnswer>
}

type Shared = { ctx: OpenContext; kbId: string; neuron: Neuron; dataDir: string }
let opened: Promise<Shared> | undefined

/** Ends what the servers of a test file share; the setup of each file sees to it. */
export async function closeShared(): Promise<void> {
  const shared = await opened
  opened = undefined
  if (shared === undefined) return
  await shared.ctx.close()
  rmSync(shared.dataDir, { recursive: true, force: true, maxRetries: 5 })
}

/** Opens what the servers of a test file share: the knowledge base `handbook` of the tenant `acme`, with a Neuron and two files. */
async function openShared(): Promise<Shared> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ganglion-'))
  const ctx = await openContext({ dataDir, threads })
  const { id: kbId, gitDir } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook', title: 'Handbook' })
  const text = `---\nseqId: ${seqId}\ntitle: VIP escalation policy\ntags: [policy]\n---\nPage the lead.\n\n![](</a b/ü.png>) ![](/x.svg)\n`
  const files = { '2026/01/vip-escalation-policy.md': text, 'a b/ü.png': 'bytes', 'x.svg': 'bytes' }
  const paths = Object.entries(files).map(([path, text]) => [`neurons/${path}`, text] as const)
  new NativeWriter(gitDir).commit('refs/heads/main', new Map(paths))
  const { id: tenantId } = await ctx.tenants.ensure('acme', ctx.now())
  const tokens = new Map<string, string>()
  for (const role of Role.options) {
    const key = { tenantId, name: `the ${role}`, role, connectors: [], expiresAt: null }
    tokens.set(role, (await ctx.apiKeys.create(key, ctx.now())).token)
  }
  // A role's name stands for the token of its key.
  const authenticate = ctx.apiKeys.authenticate.bind(ctx.apiKeys)
  ctx.apiKeys.authenticate = (token, now) => authenticate(tokens.get(token) ?? token, now)
  const curator = { id: 'key:seed', name: 'Seed', tenantId, role: 'curator', connectors: [] } as const
  const neuron = Neuron.parse(await readNeuron(ctx, curator, { kb: 'handbook', seqId }))
  return { ctx, kbId, neuron, dataDir }
}

/**
 * A server, closed when the test ends, on the context that the tests of a file share.
 * @param changes parts of the context that are others for this server
 */
export async function testServer(changes: Partial<AppContext> = {}, options: ServerOptions = {}): Promise<TestServer> {
  opened ??= openShared()
  const { ctx: shared, kbId, neuron } = await opened
  const ctx = { ...shared, requestCounter: new MemoryCounter({ span: 60_000 }), acts: new EventEmitter(), ...changes }
  const acts: string[] = []
  ctx.acts.on('candidate', (act) => void acts.push(act))
  const app = await buildServer(ctx, options)
  onTestFinished(() => app.close())
  return {
    app,
    ctx,
    acts,
    kbId,
    neuron,
    async request(method, url, { as, headers, body } = {}) {
      const response = await app.inject({
        method,
        url,
        headers: {
          ...(as && { authorization: `Bearer ${as}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const answerHeaders = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
      )
      validateAnswer(app, { method, url, status: response.statusCode, headers: answerHeaders, body: response.body })
      const isJson = answerHeaders['content-type']?.startsWith('application/json') === true && method !== 'HEAD'
      const json: unknown = isJson ? JSON.parse(response.body) : undefined
      return { status: response.statusCode, headers: answerHeaders, text: response.body, json }
    },
  }
}

/** Lets the disk have this fraction free until the test ends. */
export function freeDisk({ directory }: AppContext, ratio: number): MockInstance {
  const spy = vi.spyOn(directory, 'freeRatio').mockResolvedValue(ratio)
  onTestFinished(() => spy.mockRestore())
  return spy
}

/** Listens on a free port of the loopback interface. */
export async function listen(app: ZodFastify): Promise<number> {
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return Number(new URL(address).port)
}

/** A connection, and all that it gives until the server closes it. A reset after an answer is the server's right. */
export function openConnection(port: number): { socket: Socket; received: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk)).on('error', () => {})
  const received = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
  return { socket, received }
}

/** Sends bytes, keeps its side of the connection open, and gives all that came until the server closed it. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const { socket, received } = openConnection(port)
  socket.write(bytes)
  return received
}

/** Status and body of the last answer in what a connection gave. */
export function lastAnswer(received: string): { status: number; body: unknown } {
  const start = received.lastIndexOf('HTTP/1.1 ')
  const body = received.slice(received.indexOf('\r\n\r\n', start) + 4)
  return { status: Number(received.slice(start + 9, start + 12)), body: body === '' ? undefined : JSON.parse(body) }
}
