import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openapiValidator, validatingFetch } from './support/openapi-validate.ts'
import { listen, seqId, testServer } from './support/test-server.ts'

const Description = z.object({
  openapi: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ responses: z.record(z.string(), z.unknown()) }))),
  components: z.object({ schemas: z.record(z.string(), z.looseObject({})), securitySchemes: z.unknown() }),
})

const uuid = '019b9c9b-3000-7a3c-b1d2-4e5f6a7b8c9d'

let described: Promise<z.infer<typeof Description>> | undefined

/** The description, which a server takes long to make: the tests of this file share one. */
function description() {
  described ??= testServer()
    .then(({ request }) => request('GET', '/openapi.json'))
    .then(({ json }) => Description.parse(json))
  return described
}

test('the API is described as OpenAPI 3.1, open to bearers of a token and to people who are signed in', async () => {
  const { openapi, security, components } = await description()
  expect(openapi).toBe('3.1.0')
  expect(security).toEqual([{ bearer: [] }, { session: [] }])
  expect(components.securitySchemes).toMatchObject({
    bearer: { type: 'http', scheme: 'bearer' },
    session: { type: 'apiKey', in: 'cookie', name: 'ganglion' },
  })
  expect(Object.keys(components.schemas)).toEqual(
    expect.arrayContaining(['Candidate', 'CandidateInput', 'Error', 'Neuron']),
  )
})

test('every route of the API is described with every status that it can answer', async () => {
  const { paths } = await description()
  const statuses = Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, { responses }]) => `${method} ${path} ${Object.keys(responses).join(' ')}`,
      ),
    )
  const read = (status: number | string) => `${status} 400 401 403 404 408 429 431 500 503 507`
  const previewed = '200 304 400 401 403 404 408 409 429 431 500 503 507'
  expect(statuses.sort()).toEqual([
    'delete /api/v1/documents/{docId} 204 400 401 403 404 408 409 413 415 429 431 500 503 507',
    'delete /api/v1/keys/{id} 204 400 401 403 404 408 413 415 429 431 500 503 507',
    'delete /api/v1/queue/candidates/{id} 200 400 401 403 404 408 409 412 413 415 429 431 500 503 507',
    'delete /api/v1/uploads/{uploadId} 204 400 401 403 404 408 410 413 415 429 431 500 503 507',
    'delete /api/v1/webhooks/{id} 204 400 401 403 404 408 413 415 429 431 500 503 507',
    'get /api/v1/documents/{docId} 200 400 401 403 404 408 429 431 500 503 507',
    'get /api/v1/documents/{docId}/content 200 206 400 401 403 404 408 416 429 431 500 503 507',
    `get /api/v1/events ${read(200)}`,
    `get /api/v1/keys ${read(200)}`,
    `get /api/v1/knowledge-bases ${read('200 304')}`,
    `get /api/v1/knowledge-bases/{kbId}/documents ${read(200)}`,
    'get /api/v1/knowledge-bases/{kbId}/files/{path} 200 206 304 400 401 403 404 408 416 429 431 500 503 507',
    `get /api/v1/knowledge-bases/{kbId}/graph ${previewed}`,
    `get /api/v1/knowledge-bases/{kbId}/llms.txt ${read(200)}`,
    `get /api/v1/knowledge-bases/{kbId}/neurons ${previewed}`,
    `get /api/v1/knowledge-bases/{kbId}/search ${previewed}`,
    'get /api/v1/knowledge-bases/{kbId}/tests 200 400 401 403 404 408 409 429 431 500 503 507',
    `get /api/v1/me ${read(200)}`,
    `get /api/v1/me/candidates ${read(200)}`,
    `get /api/v1/me/candidates/{id} ${read('200 304')}`,
    ...['/sources', '/sources/{docId}'].map((path) => `get /api/v1/me${path} ${read(200)}`),
    `get /api/v1/neurons/{kb}/{seqId} ${previewed}`,
    'get /api/v1/neurons/{kb}/{seqId}.md 200 206 304 400 401 403 404 408 416 429 431 500 503 507',
    `get /api/v1/neurons/{kb}/{seqId}/blame ${read('200 304')}`,
    `get /api/v1/queue/candidates ${read(200)}`,
    `get /api/v1/queue/candidates/{id} ${read('200 304')}`,
    `get /api/v1/search ${previewed}`,
    'get /api/v1/uploads/{uploadId} 200 400 401 403 404 408 410 429 431 500 503 507',
    ...['', '/{id}'].map((path) => `get /api/v1/webhooks${path} ${read(200)}`),
    'patch /api/v1/keys/{id} 200 400 401 403 404 408 413 415 429 431 500 503 507',
    'patch /api/v1/me 200 400 401 403 404 408 413 415 429 431 500 503 507',
    'patch /api/v1/uploads/{uploadId}/chunk 200 400 401 403 404 408 409 410 413 415 416 429 431 500 503 507',
    'patch /api/v1/webhooks/{id} 200 400 401 403 404 408 413 415 429 431 500 503 507',
    'post /api/v1/chat 200 400 401 403 404 408 409 413 415 422 429 431 500 503 507',
    'post /api/v1/documents/{docId}/ingest 202 400 401 403 404 408 409 413 415 429 431 500 503 507',
    'post /api/v1/keys 201 400 401 403 404 408 413 415 422 429 431 500 503 507',
    'post /api/v1/knowledge-bases/{kbId}/documents/upload 201 400 401 403 404 408 409 413 415 422 429 431 500 503 507',
    'post /api/v1/knowledge-bases/{kbId}/documents/upload/init 201 400 401 403 404 408 409 413 415 422 429 431 500 503 507',
    'post /api/v1/knowledge-bases/{kbId}/reader-feedback 201 400 401 403 404 408 409 413 415 422 429 431 500 503 507',
    'post /api/v1/knowledge-bases/{kbId}/retrieve 200 400 401 403 404 408 409 413 415 429 431 500 503 507',
    'post /api/v1/knowledge-bases/{kbId}/tests 200 400 401 403 404 408 413 415 429 431 500 503 507',
    'post /api/v1/knowledge-bases/{kbId}/tests/dismiss 200 400 401 403 404 408 413 415 429 431 500 503 507',
    'post /api/v1/knowledge-bases/{kbId}/undo 200 400 401 403 404 408 413 415 429 431 500 503 507',
    'post /api/v1/neurons/{kb}/{seqId}/still-true 200 202 400 401 403 404 408 409 413 415 429 431 500 503 507',
    'post /api/v1/queue/candidates 201 400 401 403 404 408 409 413 415 422 429 431 500 503 507',
    'post /api/v1/queue/candidates/batch 200 400 401 403 404 408 413 415 429 431 500 503 507',
    'post /api/v1/queue/candidates/{id}/approve 200 202 400 401 403 404 408 409 412 413 415 429 431 500 503 507',
    'post /api/v1/queue/candidates/{id}/assign 200 400 401 403 404 408 409 413 415 429 431 500 503 507',
    'post /api/v1/queue/candidates/{id}/comment 201 400 401 403 404 408 409 413 415 422 429 431 500 503 507',
    'post /api/v1/queue/candidates/{id}/dismiss 200 400 401 403 404 408 409 412 413 415 429 431 500 503 507',
    'post /api/v1/queue/candidates/{id}/reopen 200 400 401 403 404 408 409 412 413 415 429 431 500 503 507',
    'post /api/v1/queue/candidates/{id}/request-changes 200 400 401 403 404 408 409 412 413 415 429 431 500 503 507',
    'post /api/v1/uploads/{uploadId}/finalize 201 400 401 403 404 408 409 410 413 415 422 429 431 500 503 507',
    'post /api/v1/webhooks 201 400 401 403 404 408 413 415 422 429 431 500 503 507',
    ...['rotate', 'test'].map(
      (act) => `post /api/v1/webhooks/{id}/${act} 200 400 401 403 404 408 413 415 429 431 500 503 507`,
    ),
    'put /api/v1/queue/candidates/batch 200 400 401 403 404 408 413 415 429 431 500 503 507',
    'put /api/v1/queue/candidates/{id} 200 400 401 403 404 408 409 412 413 415 429 431 500 503 507',
  ])
})

test('every reference leads to a component, and every component is referred to', async () => {
  const text = JSON.stringify(await description())
  const referred = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name))
  const { components } = await description()
  expect([...referred].sort()).toEqual(Object.keys(components.schemas).sort())
  expect(text).not.toContain('$defs')
})

test('a body in which nothing is required may be left out', async () => {
  const { paths } = await description()
  const isRequired = (path: string) => Object(paths[path]?.post?.requestBody).required
  expect(isRequired('/api/v1/queue/candidates')).toBe(true)
  expect(isRequired('/api/v1/queue/candidates/{id}/approve')).toBe(false)
  expect(isRequired('/api/v1/queue/candidates/{id}/dismiss')).toBe(false)
})

test('a switch is a boolean, without values that no boolean has', async () => {
  const { paths } = await description()
  const parameters = z
    .array(z.object({ name: z.string(), schema: z.looseObject({}) }))
    .parse(paths['/api/v1/knowledge-bases/{kbId}/documents/upload']?.post?.parameters)
  const force = parameters.find(({ name }) => name === 'force')
  expect(force?.schema).toEqual({ type: 'boolean' })
})

test('a property of a body with a default says it in words, so that generated clients may leave it out', async () => {
  const { components } = await description()
  const { properties, required } = z
    .object({ properties: z.record(z.string(), z.looseObject({})), required: z.array(z.string()) })
    .parse(components.schemas.RetrieveInput)
  expect(required).toEqual(['query'])
  expect(properties.topK).not.toHaveProperty('default')
  expect(properties.topK?.description).toContain('`5`')
})

/** The schemas of the routes that the description has, as they are in the code. */
async function describedSchemas(): Promise<FastifySchema[]> {
  const schemas: FastifySchema[] = []
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ schema, method }) => {
      if (schema?.operationId !== undefined && method !== 'HEAD') schemas.push(schema)
    })
  }
  subscribe('fastify.initialization', watch)
  await testServer().finally(() => unsubscribe('fastify.initialization', watch))
  return schemas
}

/** The zod schemas of a body, or of a response by status. */
function zodSchemas(part: unknown): z.ZodType[] {
  if (part instanceof z.ZodNull) return []
  if (part instanceof z.ZodType) return [part]
  return Object.values(
    z.object({ content: z.record(z.string(), z.object({ schema: z.instanceof(z.ZodType) })) }).parse(part).content,
  ).map(({ schema }) => schema)
}

const examplesOf = (schema: z.ZodType): unknown[] =>
  z
    .array(z.unknown())
    .parse(
      z.globalRegistry.get(schema)?.examples ?? (schema instanceof z.ZodPipe ? examplesOf(schema.in as z.ZodType) : []),
    )

test('every operation has a short summary and a description', async () => {
  const schemas = await describedSchemas()
  expect(schemas.length).toBeGreaterThan(30)
  for (const { operationId, summary = '', description = '' } of schemas) {
    expect(summary, operationId).toMatch(/^[A-Z][a-z]+( [^ ]+){0,7}$/)
    expect(summary, operationId).not.toMatch(/[.?]$/)
    expect(description, operationId).toMatch(/^[A-Z].*\.$/s)
  }
})

test('every request body and every success has examples that its own schema accepts', async () => {
  for (const { operationId, body, response } of await describedSchemas()) {
    const successes = Object.entries(Object(response)).filter(([status]) => status.startsWith('2'))
    for (const schema of [
      ...(body === undefined ? [] : zodSchemas(body)),
      ...successes.flatMap(([, part]) => zodSchemas(part)),
    ]) {
      const examples = examplesOf(schema)
      expect(examples.length, operationId).toBeGreaterThan(0)
      for (const example of examples) {
        const parsed = schema.safeParse(example)
        expect(parsed.error, operationId).toBeUndefined()
        if (schema !== body) expect(parsed.data, operationId).toEqual(example)
      }
    }
  }
})

test('every parameter and every property is described', async () => {
  const { paths, components } = await description()
  const isDescribed = (node: Record<string, unknown>): boolean =>
    typeof node.description === 'string' ||
    (typeof node.$ref === 'string' && isDescribed(components.schemas[node.$ref.replace(/.*\//, '')] ?? {})) ||
    (Array.isArray(node.anyOf) && node.anyOf.some(isDescribed))
  const missing: string[] = []
  const walk = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return
    const { properties, parameters } = Object(node)
    const described = [
      ...Object.entries(Object(properties)),
      ...(Array.isArray(parameters) ? parameters.map((one) => [one.name, one]) : []),
    ]
    missing.push(...described.flatMap(([name, one]) => (isDescribed(one) ? [] : [`${path} ${name}`])))
    for (const [key, part] of Object.entries(node)) {
      if (key === 'examples' || key === 'example') continue
      // The keys of `properties` are names, of which one may be `properties`.
      if (key === 'properties') for (const [name, one] of Object.entries(Object(part))) walk(one, `${path} ${name}`)
      else walk(part, `${path} ${key}`)
    }
  }
  walk(paths, '')
  walk(components.schemas, '')
  expect(missing).toEqual([])
})

test('nothing is described by default words', async () => {
  expect(JSON.stringify(await description())).not.toContain('Default Response')
})

test('an answer that the description does not hold fails the check', async () => {
  const { app } = await testServer()
  const validate = openapiValidator(app.swagger())
  const headers = { 'x-request-id': '1', 'content-type': 'application/json; charset=utf-8' }
  const ok = { method: 'GET', url: '/healthz', status: 200, headers, body: '{"status":"ok"}' }
  expect(() => validate(ok)).not.toThrow()
  for (const wrong of [
    { ...ok, status: 201 },
    { ...ok, body: '{"status":"ill"}' },
    { ...ok, body: '{"status":"ok","more":1}' },
    { ...ok, headers: { 'x-request-id': '1', 'content-type': 'text/html' } },
    { ...ok, headers: { 'content-type': 'application/json' } },
    { ...ok, url: '/nothing' },
    { ...ok, url: '/nothing', status: 404, body: '{"message":"no"}' },
    { ...ok, url: '/api/v1/queue/candidates', status: 401, body: '{"error":"invalid_token"}' },
  ]) {
    expect(() => validate(wrong), JSON.stringify(wrong)).toThrow()
  }
})

test('the pages of the description load only what this server has', async () => {
  const { request } = await testServer()
  const page = await request('GET', '/docs')
  const scripts = [...page.text.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)]
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url)
  expect(assets.length).toBeGreaterThan(4)
  for (const url of assets) expect([url, (await request('GET', url)).status]).toEqual([url, 200])
  expect(scripts.map(([, , inline]) => inline?.trim())).toEqual(['', '', ''])
  expect(page.text).not.toMatch(/<style|style="|onload=/)
  expect((await request('GET', '/docs/json')).json).toEqual((await request('GET', '/openapi.json')).json)
})

test.each(['/docs', '/healthz', '/nothing', '/api/v1/queue/candidates'])(
  '%s has the headers that keep a browser safe',
  async (url) => {
    const { request } = await testServer()
    const { headers } = await request('GET', url)
    expect(headers['content-security-policy']).toMatch(/^default-src 'self';/)
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['x-frame-options']).toBe('DENY')
  },
)

const Method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const Operation = z.looseObject({
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean().optional() }))
    .default([]),
  requestBody: z.looseObject({ content: z.record(z.string(), z.unknown()) }).optional(),
})
const known: Readonly<Record<string, string>> = { kb: 'handbook', kbId: 'handbook', seqId, q: 'page' }

test('unknown query parameters and unknown body fields are ignored alike, by every operation', async () => {
  const { request } = await testServer({}, { eventStreamAge: 20 })
  const { paths } = await description()
  let bodies = 0
  for (const [template, operations] of Object.entries(paths)) {
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? uuid)
    for (const [method, described] of Object.entries(operations)) {
      const { parameters, requestBody } = Operation.parse(described)
      const required = parameters.filter((parameter) => parameter.in === 'query' && parameter.required === true)
      const query = required.map(({ name }) => `${name}=${known[name] ?? 'x'}`)
      const answer = async (more: string[], body: object | undefined) => {
        const url = [path, [...query, ...more].join('&')].filter((part) => part !== '').join('?')
        const { status, json } = await request(Method.parse(method.toUpperCase()), url, {
          as: 'curator',
          ...(body && { body }),
        })
        return { operation: `${method} ${template}`, status, error: Object(json).error }
      }
      const takesJson = requestBody?.content['application/json'] !== undefined
      const body = takesJson ? {} : undefined
      const plain = await answer([], body)
      expect(await answer(['unknown=1', '_=2', 'unknown=3', 'a[b]=c'], body)).toEqual(plain)
      if (!takesJson) continue
      bodies++
      expect(await answer([], { unknown: { field: 1 }, _: null })).toEqual(plain)
    }
  }
  expect(bodies).toBeGreaterThan(8)
})

test('answers over a socket are checked as well', async () => {
  const { app } = await testServer()
  const request = await validatingFetch(`http://127.0.0.1:${await listen(app)}`)
  expect((await request('/readyz')).status).toBe(200)
  expect((await request('/api/v1/queue/candidates')).status).toBe(401)
  const headers = { authorization: 'Bearer curator' }
  const queue = await request('/api/v1/queue/candidates?status=dismissed', { headers })
  expect(await queue.json()).toEqual({ candidates: [], nextCursor: null })
})
