import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import type { AppContext } from '../app/open-context.ts'
import { GanglionError } from '../contract/errors.ts'
import { clientNetwork } from '../rules/access/client-network.ts'
import { PresentWork } from '../system/concurrency/present-work.ts'
import { authenticate, authenticateEither, bearerToken, keyAsPassword, requireRole } from './access/auth.ts'
import { createLimits, type Limits, rateOf } from './access/rate-limits.ts'
import { readSessions } from './access/session-cookie.ts'
import { forgeRoutes } from './forge-routes.ts'
import { type GitOptions, gitRoutes } from './git/routes.ts'
import { AnsweredRequests, type LogTarget, loggerOptions } from './log.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { agentAddress, agentChallenge, audienceOf } from './oauth/agent-address.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { describeRoutes, descriptionRoutes } from './openapi.ts'
import { createMetrics, measureRequests, operationRoutes } from './operation-routes.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { answerBelow, routedPath } from './path-prefix.ts'
import { parseJsonBodies } from './request/json-body.ts'
import { compressAnswers } from './response/compress.ts'
import { answerError } from './response/error-answer.ts'
import { securityHeaders } from './response/security-headers.ts'
import { measureState } from './state-metrics.ts'
import {
  answerBrokenRequest,
  boundArrival,
  connectionOptions,
  holdExpectations,
  isAmbiguous,
  lingerBeforeClosing,
  type Timeouts,
} from './transport.ts'
import { administrationRoutes } from './v1/administration-routes.ts'
import { answerTestRoutes } from './v1/answer-test-routes.ts'
import { chatRoutes, feedbackRoutes } from './v1/chat-routes.ts'
import { documentRoutes } from './v1/document-routes.ts'
import { eventRoutes } from './v1/event-routes.ts'
import { fileRoutes, knowledgeBaseRoutes, llmsRoutes } from './v1/knowledge-base-routes.ts'
import { meRoutes } from './v1/me-routes.ts'
import { neuronRoutes } from './v1/neuron-routes.ts'
import { queueRoutes, undoRoutes } from './v1/queue-routes.ts'
import { searchRoutes } from './v1/search-routes.ts'
import { uploadRoutes } from './v1/upload-routes.ts'
import { widgetRoutes } from './widget-routes.ts'
import { schemaController, type ZodFastify, type ZodTypeProvider } from './zod-compilers.ts'

export type ServerOptions = {
  /** Maximum requests of one API key per minute. */
  rateReads?: number
  rateWrites?: number
  rateChats?: number
  timeouts?: Partial<Timeouts>
  git?: GitOptions
  /** Milliseconds after which an event stream is closed. */
  eventStreamAge?: number
  /** Addresses of proxies whose `X-Forwarded-*` headers are trusted; none by default. */
  trustedProxies?: string[]
  /** URL at which clients reach the server, if that is not where it listens. */
  publicUrl?: string | undefined
  /** Key for `/metrics`; without it, only requests from this machine are allowed. */
  metricsKey?: string | undefined
  /** Name of this node, which is sent with each answer. */
  node?: string | undefined
  /** Returns true if requests can be served: false while starting. */
  isReady?: () => boolean
  /** Returns true if the server stops soon. It still answers, but reports itself as not ready, and keeps no connection open. */
  isLeaving?: () => boolean
  /** Adds pages for people next to the API. */
  pages?: (app: ZodFastify, context: PagesContext) => Promise<void>
  /** Destination of the log; absent: no log. */
  log?: LogTarget
}

export type PagesContext = { ctx: AppContext; limits: Limits }

const apiPrefix = '/api/v1'
const mcpPrefix = '/mcp'
const gitPrefix = '/git'
const forgePrefix = '/forge'
const bodyLimit = 2 * 1024 * 1024

/** Builds the HTTP server on the services, ready to listen or for `inject`. Closing it waits for requests in flight. */
export async function buildServer(ctx: AppContext, options: ServerOptions = {}): Promise<ZodFastify> {
  const timeouts = { headers: 10_000, request: 30_000, upload: 30_000, keepAlive: 5_000, ...options.timeouts }
  const app = fastify({
    ...connectionOptions(timeouts),
    logger: loggerOptions(options.log),
    logController: new AnsweredRequests(),
    genReqId: () => randomUUID(),
    trustProxy: options.trustedProxies ?? false,
    bodyLimit,
    // The limit of headers already bounds a parameter, so one that is longer than any name gets a 404.
    routerOptions: { maxParamLength: 16 * 1024 },
    // The server sends its own error body while draining.
    return503OnClosing: false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => void answerBadPath(error, request, reply),
    schemaController,
    rewriteUrl: (request) => routedPath(withRoutedMethod(request), ctx.urls.root),
  }).withTypeProvider<ZodTypeProvider>()
  const metrics = createMetrics(ctx)
  const addressFor = (request: FastifyRequest) => agentAddress(request, ctx)
  const agentAuthenticated = authenticate(ctx, {
    tokenOf: bearerToken,
    challenge: (request) => agentChallenge(addressFor(request)),
    audience(request) {
      const address = addressFor(request)
      return address && audienceOf(address)
    },
  })
  const eitherAuthenticated = authenticateEither(ctx, app)
  const gitAuthenticated = authenticate(ctx, keyAsPassword)
  const rates = { read: options.rateReads ?? 600, write: options.rateWrites ?? 120, chat: options.rateChats ?? 20 }

  let isDraining = false
  app.addHook('preClose', async () => {
    isDraining = true
  })
  const isOpen = () => !isDraining && options.isReady?.() !== false
  const isLeaving = () => isDraining || options.isLeaving?.() === true
  const onEach = { ...securityHeaders, ...(options.node && { 'ganglion-node': options.node }) }

  app.setErrorHandler(answerError)
  app.setNotFoundHandler(notFound)
  app.decorateRequest('caller', undefined)
  parseJsonBodies(app)
  holdKbs(app)

  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(onEach).header('x-request-id', request.id)
    done()
  })
  boundArrival(app, timeouts)
  app.addHook('onRequest', ({ raw, routeOptions }, _, done) => {
    const isShut = routeOptions.config.alwaysOpen !== true && !isOpen()
    if (isAmbiguous(raw)) done(new GanglionError('malformed_request'))
    else done(isShut ? new GanglionError('unavailable') : undefined)
  })
  // Runs before a body is read, and after the hooks that authenticate.
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.is404) done(new GanglionError('not_found'))
    else if (isEncoded(request)) {
      // RFC 9110, section 15.5.16: a 415 response lists the accepted encodings.
      reply.header('accept-encoding', 'identity')
      done(new GanglionError('unsupported_media_type', 'Send the body without a content encoding.'))
    } else done(null, payload)
  })
  holdExpectations(app)
  app.addHook('onSend', (_, reply, payload, done) => {
    if (isLeaving()) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('onSend', lingerBeforeClosing)
  answerBelow(app, ctx.urls.root)
  compressAnswers(app)
  measureRequests(app, metrics)
  const limits = createLimits(rates, ctx)
  measureState(metrics.registry, ctx, limits)

  await readSessions(app, ctx, options.publicUrl)

  await describeRoutes(app, ctx.urls.root)
  await app.register(async (open: ZodFastify) => {
    const refuse = refuseOtherMethods(open)
    await descriptionRoutes(open, ctx)
    operationRoutes(open, { metrics, isOpen: () => isOpen() && !isLeaving(), ctx, metricsKey: options.metricsKey })
    refuse()
  })
  await app.register(
    async (api: ZodFastify) => {
      guardRoutes(api, eitherAuthenticated, limits)
      const refuse = refuseOtherMethods(api)
      apiRoutes(api, ctx, limits)
      await uploadRoutes(api, ctx)
      eventRoutes(api, ctx, { limits, maxAge: options.eventStreamAge ?? 3_600_000 })
      refuse()
    },
    { prefix: apiPrefix },
  )
  await app.register(
    async (mcp: ZodFastify) => {
      guardRoutes(mcp, agentAuthenticated, limits)
      const refuse = refuseOtherMethods(mcp)
      mcpRoutes(mcp, { ctx, limits, publicUrl: options.publicUrl })
      refuse()
    },
    { prefix: mcpPrefix },
  )
  await app.register(async (oauth: ZodFastify) => oauthRoutes(oauth, ctx, limits))
  await app.register(
    async (git: ZodFastify) => {
      guardRoutes(git, gitAuthenticated, limits)
      git.setNotFoundHandler(notFound)
      gitRoutes(git, { ctx, limits, options: options.git ?? {} })
    },
    { prefix: gitPrefix },
  )
  await app.register(
    async (forge: ZodFastify) => {
      forge.setNotFoundHandler(notFound)
      forgeRoutes(forge, ctx)
    },
    { prefix: forgePrefix },
  )
  await app.register(async (widget: ZodFastify) => widgetRoutes(widget, ctx, limits), { prefix: '/widget' })
  const { pages } = options
  if (pages !== undefined) await app.register((scope: ZodFastify) => pages(scope, { ctx, limits }))
  await app.ready()
  return app

  /** Answers a path that cannot be decoded, which reaches no route and no hook. */
  async function answerBadPath(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.headers({ ...securityHeaders, 'x-request-id': request.id, connection: 'close' })
    try {
      if (!isOpen()) throw new GanglionError('unavailable')
      const isGit = request.url.startsWith(`${gitPrefix}/`)
      if (!isGit && !request.url.startsWith(`${apiPrefix}/`)) throw error
      await (isGit ? gitAuthenticated : eitherAuthenticated)(request, reply)
      notFound()
    } catch (cause) {
      answerError(cause, request, reply)
    }
    request.log.info({ req: request, res: reply }, 'request completed')
  }
}

const routedMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
])

/** Treats a method that no route has, such as PROPFIND, as TRACE, which none has either: a router for each would take 8 MB. */
function withRoutedMethod<Request extends Pick<IncomingMessage, 'method'>>(request: Request): Request {
  if (!routedMethods.has(request.method ?? '')) request.method = 'TRACE'
  return request
}

/** Adds the hooks that authorise a request. A hook may only reveal what the hooks before it allow the caller to know. */
/** Milliseconds after which a request whose body has come is authenticated again. */
const slowBody = 1_000

function guardRoutes(app: ZodFastify, authenticated: ReturnType<typeof authenticate>, limits: Limits): void {
  app.addHook('onRequest', authenticated)
  app.addHook('onRequest', async (request, reply) => limits.countRequest(request, reply, rateOf(request)))
  app.addHook('onRequest', (request, _, done) => {
    requireRole(request)
    if (rateOf(request) === 'read') done()
    else limits.checkDisk().then(() => done(), done)
  })
  // A key may be revoked, or its person demoted, while a slow body arrives.
  app.addHook('preValidation', async (request, reply) => {
    if (reply.elapsedTime < slowBody) return
    await authenticated(request, reply)
    requireRole(request)
  })
}

function apiRoutes(api: ZodFastify, ctx: AppContext, limits: Limits): void {
  api.setNotFoundHandler(notFound)
  queueRoutes(api, ctx, limits)
  neuronRoutes(api, ctx)
  knowledgeBaseRoutes(api, ctx)
  undoRoutes(api, ctx)
  answerTestRoutes(api, ctx)
  llmsRoutes(api, ctx)
  meRoutes(api, ctx)
  searchRoutes(api, ctx)
  chatRoutes(api, ctx)
  feedbackRoutes(api, ctx)
  documentRoutes(api, ctx)
  fileRoutes(api, ctx)
  administrationRoutes(api, ctx)
}

/** True if the body would have to be decoded first. Only git's requests may be encoded, and git decodes them itself. */
function isEncoded({ headers, routeOptions }: FastifyRequest): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  return encoding !== '' && encoding !== 'identity' && routeOptions.config.gitService === undefined
}

function notFound(): never {
  throw new GanglionError('not_found')
}

/**
 * Keeps the knowledge bases of a request open until its handler and its answer have ended, and records its caller. Applies to all routes
 * added later.
 */
function holdKbs(app: ZodFastify): void {
  app.addHook('onRoute', (route) => {
    const { handler } = route
    if (route.config?.alwaysOpen) return
    route.handler = function (request, reply) {
      const work = new PresentWork(() => request.caller?.id ?? clientNetwork(request.ip))
      const handled = work.run(() => handler.call(this, request, reply))
      void Promise.allSettled([handled, finished(reply.raw)]).then(() => work.end())
      return handled
    }
  })
}
