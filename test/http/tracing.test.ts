import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { observedRequest } from '../../src/models/language-model.ts'
import { startTracing } from '../../src/operate/tracing.ts'
import { observed } from '../../src/system/work.ts'
import { listening } from '../support/listening.ts'
import { runNode } from '../support/process.ts'
import { testServer } from './support/test-server.ts'

const Attribute = z.object({
  key: z.string(),
  value: z.object({ stringValue: z.string().optional(), intValue: z.number().optional() }),
})
const OtlpSpan = z.object({
  ...{ name: z.string(), kind: z.int(), traceId: z.string(), spanId: z.string(), parentSpanId: z.string().optional() },
  ...{ attributes: z.array(Attribute), status: z.object({ code: z.int() }) },
  events: z.array(z.object({ attributes: z.array(Attribute) })),
})
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(OtlpSpan) })),
    }),
  ),
})

/** Starts a receiver of OTLP over HTTP that records what it was sent. */
async function receiver() {
  const exports: z.output<typeof Export>[] = []
  const server = createServer(async (request, response) => {
    expect([request.url, request.headers['x-team']]).toEqual(['/v1/traces', 'kb'])
    exports.push(Export.parse(await json(request)))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', await listening(server))
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-team=kb')
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test')
  const values = (attributes: z.output<typeof Attribute>[]) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
  const spans = () =>
    exports.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    )
  const resource = () => values(exports[0]?.resourceSpans[0]?.resource.attributes ?? [])
  return { spans, resource, values }
}

test('requests, commits, jobs and requests to models are spans, each below what started it', async () => {
  const { spans, resource, values } = await receiver()
  const warnings: string[] = []
  const stop = await startTracing(process.env, (message) => void warnings.push(message))
  const { request, kbId } = await testServer()
  const [traceId, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const body = { kb: 'handbook', kind: 'chat', title: 'secret-of-a-user', content: 'y' }
  const headers = { traceparent: `00-${traceId}-${parent}-01` }
  const sent = await request('POST', '/api/v1/queue/candidates', { as: 'app', body, headers })
  expect(sent.status).toBe(201)
  expect((await request('GET', '/api/v1/me')).status).toBe(401)
  await request('GET', '/healthz')
  await observed({ kind: 'job', name: 'ingest' }, () =>
    observedRequest('compile', 'small', async () => new Response('', { status: 503 })),
  )
  const rejected = observed({ kind: 'commit', name: 'rejected' }, async () => {
    throw new TypeError('secret-of-a-user')
  })
  await expect(rejected).rejects.toThrow(TypeError)
  await stop()

  const find = (name: string, trace = '') =>
    spans().find((span) => span.name === name && span.traceId.endsWith(trace)) ?? expect.fail(name)
  const asked = find('POST /api/v1/queue/candidates')
  expect(asked).toMatchObject({ kind: 2, traceId, parentSpanId: parent, status: { code: 0 } })
  expect(values(asked.attributes)).toMatchObject({
    'http.response.status_code': 201,
    'ganglion.request_id': sent.headers['x-request-id'],
  })
  const commit = find('commit', traceId)
  expect(commit).toMatchObject({ traceId, parentSpanId: asked.spanId })
  expect(values(commit.attributes)).toEqual({ 'ganglion.kb': kbId })
  expect(values(find('GET /api/v1/me').attributes)).toMatchObject({ 'http.response.status_code': 401 })
  const [job, model] = [find('ingest'), find('compile')]
  expect(job).toMatchObject({ kind: 5 })
  expect(job.parentSpanId).toBeFalsy()
  expect(model).toMatchObject({ kind: 3, parentSpanId: job.spanId, status: { code: 2 } })
  expect(values(model.attributes)).toEqual({ 'gen_ai.request.model': 'small', 'http.response.status_code': 503 })
  expect(find('rejected').status).toMatchObject({ code: 2 })
  expect(JSON.stringify(spans())).toContain('TypeError')
  expect(resource()).toMatchObject({ 'service.name': 'ganglion', 'deployment.environment.name': 'test' })
  expect(JSON.stringify(spans())).not.toMatch(/secret-of-a-user|healthz/)
  expect(warnings).toEqual([])
  const count = spans().length
  await request('GET', '/api/v1/me')
  expect(spans()).toHaveLength(count)
})

test('a collector that never answers holds up no end', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', await listening(createServer(() => {})))
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '600000') // more than the test has
  const stop = await startTracing(process.env, () => {})
  await observed({ kind: 'job', name: 'ingest' }, async () => {})
  await stop()
})

test('nothing is loaded unless it is asked for, and a server without the packages says what to install', async () => {
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(name, context, next) {
        if (name.startsWith('@opentelemetry/')) throw new Error('Cannot find package')
        return next(name, context)
      },
    })
    const { startTracing } = await import('./src/operate/tracing.ts')
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
    for (const env of [{}, { ...endpoint, OTEL_SDK_DISABLED: 'true' }, { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, endpoint]) {
      await (await startTracing(env, console.log))()
    }`
  const { stdout } = await runNode(['--input-type=module', '--eval', program])
  expect(stdout.trim().split('\n')).toEqual([expect.stringContaining('npm install @opentelemetry/api')])
})
