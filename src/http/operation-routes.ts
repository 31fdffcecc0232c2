import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { z } from 'zod'
import type { AppContext } from '../app/open-context.ts'
import { GanglionError } from '../contract/errors.ts'
import { nativeGit } from '../git/native/git-process.ts'
import { checkerPackage, checkerPath } from '../kb/checker-package.ts'
import { health } from '../operate/health.ts'
import { type ObservedWork, requestWorks, works } from '../system/work.ts'
import { bearerToken } from './access/auth.ts'
import { errorAnswers } from './response/error-answer.ts'
import type { ZodFastify } from './zod-compilers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that also answers while the service is starting or draining. */
    alwaysOpen?: boolean
  }
}

export type Metrics = {
  registry: Registry
  requests: Histogram<'route' | 'method' | 'status'>
}

let ofProcess: Registry | undefined

/** Returns the metrics of this process, shared by all of its servers: their observers are never removed. */
function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
    measureWork(ofProcess)
  }
  return ofProcess
}

/** Returns the metrics of one server. No label contains text of a user. */
export function createMetrics({ acts }: Pick<AppContext, 'acts'>): Metrics {
  const registry = new Registry()
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the arrival of the headers to the end of the answer.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  })
  const candidates = new Counter({
    name: 'ganglion_candidates_total',
    help: 'What clients, readers, people and lint did to candidates, by the status since; not what pushes, imports and ingest brought.',
    labelNames: ['action', 'status'],
    registers: [registry],
  })
  acts.on('candidate', (action, status) => candidates.inc({ action, status }))
  return { registry, requests }
}

/** Measures each request, and reports its handler, with the work that it starts, to subscribers of `requestWorks`. */
export function measureRequests(app: ZodFastify, { requests }: Metrics): void {
  const begun = new WeakMap<FastifyRequest, ObservedWork>()
  const begin = (request: FastifyRequest, elapsed: number): ObservedWork => {
    const { is404, method, routeOptions, id, headers } = request
    const route = is404 ? 'unmatched' : (routeOptions.url ?? 'unmatched')
    const attributes = { 'http.request.method': method, 'http.route': route, 'ganglion.request_id': id }
    const since = performance.now() - elapsed
    return { kind: 'request', name: `${method} ${route}`, attributes, carrier: headers, since }
  }
  app.addHook('onRoute', (route) => {
    const { handler } = route
    if (route.config?.alwaysOpen) return
    route.handler = function (request, reply) {
      if (!requestWorks.start.hasSubscribers) return handler.call(this, request, reply)
      const work = begin(request, reply.elapsedTime)
      begun.set(request, work)
      return requestWorks.start.runStores(work, () => handler.call(this, request, reply))
    }
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? 'unmatched' : (request.routeOptions.url ?? 'unmatched')
    const { method, routeOptions } = request
    const { statusCode: status, elapsedTime } = reply
    requests.observe({ route, method, status }, elapsedTime / 1000)
    if (requestWorks.start.hasSubscribers && !routeOptions.config.alwaysOpen) {
      const work = begun.get(request) ?? begin(request, elapsedTime)
      // The request was rejected before its handler.
      if (!begun.has(request)) requestWorks.start.runStores(work, () => {})
      work.attributes = { ...work.attributes, 'http.response.status_code': status }
      work.hasFailed = status >= 500
      requestWorks.asyncEnd.publish(work)
    }
    done()
  })
}

const Alive = z
  .object({ status: z.literal('ok').describe('Always `ok`.') })
  .meta({ description: 'The process is alive.', examples: [{ status: 'ok' }] })
const Ready = z
  .object({
    status: z.literal('ready').describe('Always `ready`.'),
    git: z
      .string()
      .nullable()
      .describe(
        'Version of the git that serves clones and pushes. Null if none is installed: clones and pushes then fail.',
      ),
    notes: z.array(z.string()).describe('Sentences on what needs attention, such as a paused link to a forge.'),
  })
  .meta({
    description: 'The server accepts requests, and all its parts work.',
    examples: [{ status: 'ready', git: '2.43.0', notes: [] }],
  })

/** Adds `/healthz`, `/readyz`, `/metrics`, and the checker for CI. */
export function operationRoutes(
  app: ZodFastify,
  {
    metrics,
    isOpen,
    ctx,
    metricsKey,
  }: { metrics: Metrics; isOpen: () => boolean; ctx: AppContext; metricsKey?: string | undefined },
): void {
  const config = { alwaysOpen: true }
  const described = { tags: ['Operations'], security: [] }
  const all = Registry.merge([processMetrics(), metrics.registry])

  app.get(
    '/healthz',
    {
      config,
      schema: {
        ...described,
        operationId: 'isAlive',
        summary: 'Check that the process is alive',
        description: 'Returns 200 while the process can answer, also while it starts or drains.',
        response: { 200: Alive },
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    {
      config,
      schema: {
        ...described,
        operationId: 'isReady',
        summary: 'Check that the server is ready',
        description:
          'Returns whether the server works. Fails with `unavailable` while the server starts or drains, and while git cannot be started, the data directory cannot be ' +
          'written or the database cannot be reached: `problems` lists the broken parts. The result is cached for 3 seconds.',
        response: { 200: Ready, ...errorAnswers(['unavailable']) },
      },
    },
    async () => {
      if (!isOpen()) throw new GanglionError('unavailable')
      const broken = await health(ctx).problems()
      if (broken.length > 0) {
        const message = broken.map(({ part, reason }) => `${part}: ${reason}`).join('; ')
        throw new GanglionError('unavailable', message, { problems: broken })
      }
      return { status: 'ready' as const, git: (await nativeGit()) ?? null, notes: await health(ctx).notes() }
    },
  )

  app.get(checkerPath, async (_, reply) => {
    const { tgz } = await checkerPackage()
    return reply.type('application/gzip').header('cache-control', 'no-cache').send(tgz)
  })

  app.get(
    '/metrics',
    {
      config,
      schema: {
        ...described,
        operationId: 'readMetrics',
        summary: 'Read metrics for Prometheus',
        description:
          'Returns the metrics of the process and of the server. They are about all tenants, so no API key opens them: only ' +
          'the key that the operator has set for them, or if there is none, a request from the machine of the server.',
        produces: ['text/plain'],
        response: {
          200: z.string().meta({
            description: 'Metrics in the text format of Prometheus.',
            examples: ['ganglion_candidates_total{action="approve",status="approved"} 3\n'],
          }),
          ...errorAnswers(['invalid_token']),
        },
      },
    },
    async (request, reply) => {
      if (!mayRead(request, metricsKey)) {
        reply.header('www-authenticate', 'Bearer')
        throw new GanglionError('invalid_token')
      }
      return reply.type(all.contentType).send(await all.metrics())
    },
  )
}

/** Matches the headers of which every proxy adds at least one. */
const ofProxies = /^(?:forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|x-envoy-.*|cf-.*)$/

/** True for a request with the key. If no key is set: for a request from this machine that passed no proxy. */
function mayRead({ headers, raw }: FastifyRequest, key: string | undefined): boolean {
  if (key !== undefined) return isSameText(bearerToken(headers.authorization) ?? '', key)
  const isForwarded = Object.keys(headers).some((name) => ofProxies.test(name))
  return !isForwarded && /^(?:::ffff:)?127\.|^::1$/.test(raw.socket.remoteAddress ?? '')
}

function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}

/** Registers the metrics of work in this process. Requests are measured by each server. */
function measureWork(registry: Registry): void {
  const histogram = (name: string, help: string, labels: ('outcome' | 'use')[], buckets: number[]) =>
    new Histogram({ name, help, labelNames: labels, buckets, registers: [registry] })
  const [fast, slow] = [
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900],
  ]
  const durations = {
    commit: histogram(
      'ganglion_commit_duration_seconds',
      'Time from a change to a knowledge base until it is durable and visible, with its turn in the queue of the writer.',
      ['outcome'],
      fast,
    ),
    follow: histogram(
      'ganglion_follow_duration_seconds',
      'Time in which the tables of a knowledge base followed commits of other writers.',
      ['outcome'],
      fast,
    ),
    job: histogram(
      'ganglion_ingest_job_duration_seconds',
      'Time of one attempt to ingest a Source.',
      ['outcome'],
      slow,
    ),
    model: histogram(
      'ganglion_model_request_duration_seconds',
      'Time until a model began to answer, by what it was asked for.',
      ['use', 'outcome'],
      slow,
    ),
    mail: histogram(
      'ganglion_mail_duration_seconds',
      'Time until the mail server took a mail, or refused it; `given-up` is one that is not tried again.',
      ['use', 'outcome'],
      fast,
    ),
    request: undefined,
  }
  const begun = new WeakMap<ObservedWork, number>()
  works.subscribe({
    start: (work) => void begun.set(work, performance.now()),
    asyncEnd(work) {
      const outcome = work.error === undefined && !work.hasFailed ? 'ok' : 'failed'
      const seconds = (performance.now() - (begun.get(work) ?? Number.NaN)) / 1000
      durations[work.kind]?.observe({ outcome, ...(work.use !== undefined && { use: work.use }) }, seconds)
    },
  })
}
