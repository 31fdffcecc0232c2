import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ContextOptions, type OpenContext, openContext } from '../../src/app/open-context.ts'
import type { Answerer } from '../../src/chat/answerer.ts'
import type { consoleRoutes } from '../../src/console/console.ts'
import type { GitFetch, Role } from '../../src/contract/vocabulary.ts'
import { buildServer } from '../../src/http/server.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import type { EmbeddingModel } from '../../src/models/embeddings.ts'
import { validateAnswer } from '../http/support/openapi-validate.ts'
import { newState } from '../support/new-database.ts'
import { patientServer } from '../support/patient-server.ts'
import { tempDir } from '../support/temp.ts'
import { threads } from '../support/threads.ts'

export type Answer = { status: number; headers: Headers; body: Record<string, unknown>; text: string }
export type Send = { as?: string; headers?: Record<string, string>; body?: unknown }

export type Product = {
  url: string
  ctx: OpenContext
  dataDir: string
  /** The repository of the knowledge base `handbook` of the tenant `acme`. */
  gitDir: string
  kbId: string
  /** Tokens by role, of the tenant `acme`. */
  tokens: Record<Role, string>
  /** A key of any tenant. */
  newKey: (
    tenant: string,
    role: Role,
    connectors?: string[],
    expiresAt?: Date | null,
    git?: GitFetch,
  ) => Promise<string>
  request: (method: string, path: string, send?: Send) => Promise<Answer>
}

/** State that processes share which serve the same knowledge bases. */
type SharedState = Pick<ContextOptions, 'database' | 'objects'>

/** The whole product on a real socket. Every answer is checked against its own description of the API. */
export async function startProduct({
  answerer,
  onError,
  restored,
  shared,
  embeddingModel,
  publicUrl,
  now,
  webhookPrivate = false,
  ...options
}: {
  rateWrites?: number
  /** The pages for people. */
  pages?: typeof consoleRoutes
  /** URL at which people reach it. */
  publicUrl?: string
  answerer?: Answerer
  /** Lets the server follow what others do to the repositories. */
  onError?: (error: unknown) => void
  embeddingModel?: EmbeddingModel | undefined
  /** A data directory that was made from a backup of another product. */
  restored?: string
  /** State that it shares with other nodes. */
  shared?: SharedState
  now?: () => Date
  /** Whether webhooks may go to this machine. */
  webhookPrivate?: boolean
} = {}): Promise<Product> {
  const dataDir = restored ?? join(tempDir(), 'data')
  const ctx = await openContext({
    dataDir,
    ...(shared ?? (await newState())),
    threads,
    embeddingModel,
    publicUrl,
    webhookPrivate,
    ...(answerer && { answerer }),
    ...(now && { now }),
    ...(onError === undefined ? {} : { watch: { onError } }),
  })
  const [known] = await ctx.knowledgeBases.list()
  const { id: kbId } = known ?? (await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' }))
  const gitDir = ctx.directory.repository(kbId)
  const server = await buildServer(ctx, { ...patientServer, ...options })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    await server.close()
    await ctx.close()
  })
  const newKey = async (
    tenant: string,
    role: Role,
    connectors: string[] = [],
    expiresAt: Date | null = null,
    git?: GitFetch,
  ) => {
    const { id: tenantId } = await ctx.tenants.ensure(tenant, new Date())
    const { token } = await ctx.apiKeys.create({ tenantId, name: role, role, connectors, expiresAt, git }, new Date())
    return token
  }
  const tokens = {
    curator: await newKey('acme', 'curator'),
    app: await newKey('acme', 'app'),
    reader: await newKey('acme', 'reader'),
  }
  const request = async (method: string, path: string, { as, headers = {}, body }: Send = {}): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers: answerHeaders } = response
    validateAnswer(server, { method, url: path, status, headers: Object.fromEntries(answerHeaders), body: text })
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
  }
  return { url, ctx, dataDir, gitDir, kbId, tokens, newKey, request }
}

/** Returns options for another process that opens the same state. */
export function stateOf({ databaseAddress, objects }: OpenContext): SharedState {
  return { database: databaseAddress, objects }
}

/** A body that is sent as it is. */
function isRaw(body: unknown): body is string | FormData | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array
}
