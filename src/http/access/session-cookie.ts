import cookie from '@fastify/cookie'
import createTokens from '@fastify/csrf'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import { type Client, type OpenSession, openSession, type Session } from '../../people/person-session.ts'
import { deviceAge, rememberDevice } from '../../people/sign-in.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of a signed-in person; undefined for a bearer key and without authentication. */
    session: Session | undefined
    /** Secret from which the tokens of the session's forms are derived. */
    formSecret: string | undefined
  }
  interface FastifyContextConfig {
    /** True if open pages poll the route: such requests do not extend the session. */
    isBackground?: boolean
  }
  interface FastifyInstance {
    sessions: BrowserSessions
  }
}

/** Header and form field for the token of a form. */
const tokenHeader = 'x-csrf-token'
const tokenField = '_csrf'
/** Lifetime of the cookie, in seconds. The server ends an unused session earlier. */
const cookieAge = 7 * 24 * 60 * 60
const keptAge = 10 * 60
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const tokens = createTokens()

/** Reads sessions from requests, and sets and clears them in responses. */
export type BrowserSessions = {
  cookie: string
  /** Reads the session of a request's cookie into `request.session` and `request.caller`, if there is one. Used as a hook. */
  read(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Returns the current session of a request's cookie, without extending it. */
  readAgain(request: FastifyRequest): Promise<Session | undefined>
  /**
   * Checks that a request which changes something comes from a page of this server. Browsers send `Sec-Fetch-Site` and `Origin`; a request
   * without both is rejected. Throws `foreign_origin`.
   */
  requireSameOrigin(request: FastifyRequest): void
  /** Sets the cookie of a session, and stores proof that somebody has signed in with this browser, which outlives sessions. */
  begin(reply: FastifyReply, token: string): Promise<void>
  clientOf(request: FastifyRequest): Client
  end(reply: FastifyReply): void
  /** Stores a value in the browser while the person signs in at an identity provider. */
  keep(reply: FastifyReply, value: string): void
  /** Returns that value, and deletes it in the browser. */
  takeBack(request: FastifyRequest, reply: FastifyReply): string | undefined
}

/**
 * Adds `app.sessions`. Behind TLS the cookie has the prefix `__Host-`, so that no other host of the domain, and no page
 * without TLS, can set it (RFC 6265bis, section 4.1.3). That needs the path `/`: below a path prefix, where other programs share the
 * host and must not be sent the cookie, it is `__Secure-`.
 */
export async function readSessions(
  app: FastifyInstance,
  ctx: AppContext,
  publicUrl: string | undefined,
): Promise<void> {
  const isSecure = publicUrl?.startsWith('https:') === true
  const path = ctx.urls.root || '/'
  const name = isSecure ? `${path === '/' ? '__Host' : '__Secure'}-ganglion` : 'ganglion'
  const keptName = `${name}-sign-in`
  const deviceName = `${name}-device`
  const attributes = { path, httpOnly: true, secure: isSecure, sameSite: 'lax' } as const
  const tokenOf = ({ headers }: FastifyRequest) => app.parseCookie(headers.cookie ?? '')[name]
  const setToken = (reply: FastifyReply, token: string) => {
    reply.setCookie(name, token, { ...attributes, maxAge: cookieAge })
  }
  await app.register(cookie, { hook: false })
  app.decorateRequest('session', undefined)
  app.decorateRequest('formSecret', undefined)
  app.decorate('sessions', {
    cookie: name,
    async begin(reply, token) {
      setToken(reply, token)
      const device = await rememberDevice(ctx, token)
      if (device !== undefined) reply.setCookie(deviceName, device, { ...attributes, maxAge: deviceAge })
    },
    clientOf: (request) => ({
      ...clientAddress(request),
      device: app.parseCookie(request.headers.cookie ?? '')[deviceName],
    }),
    end: (reply) => void reply.clearCookie(name, attributes),
    keep: (reply, value) => void reply.setCookie(keptName, value, { ...attributes, maxAge: keptAge }),
    takeBack(request, reply) {
      reply.clearCookie(keptName, attributes)
      return app.parseCookie(request.headers.cookie ?? '')[keptName]
    },
    requireSameOrigin: (request) => requireOrigin(request, publicUrl),
    async read(request, reply) {
      const token = tokenOf(request)
      const isUse = request.routeOptions.config.isBackground !== true
      const open = token === undefined ? undefined : await openSession(ctx, token, { isUse })
      if (open === undefined) return
      enter(request, open)
      if (open.newToken !== undefined) setToken(reply, open.newToken)
    },
    async readAgain(request) {
      const token = tokenOf(request)
      return token === undefined ? undefined : (await openSession(ctx, token, { isUse: false }))?.session
    },
  })
  // Keeps a person's pages out of caches, so that nobody sees them after they sign out.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.session !== undefined && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    done(null, payload)
  })
}

function enter(request: FastifyRequest, { session, caller, formSecret }: OpenSession): void {
  request.session = session
  request.caller = { ...caller, address: request.ip }
  request.formSecret = formSecret
}

/** Returns the address and user agent of a request. */
export function clientAddress({ ip, headers }: FastifyRequest): Client {
  return { address: ip, agent: headers['user-agent'] ?? '' }
}

/** Returns the token that a form of this session must send back; empty without a session. */
export function formTokenOf({ formSecret }: Pick<FastifyRequest, 'formSecret'>): string {
  return formSecret === undefined ? '' : tokens.create(formSecret)
}

/** Throws `foreign_origin` if a request that changes something comes from a page of another site. */
function requireOrigin({ method, headers }: FastifyRequest, publicUrl: string | undefined): void {
  if (safeMethods.has(method)) return
  const { origin, host, 'sec-fetch-site': site } = headers
  const isForeign = (site !== undefined && site !== 'same-origin') || (origin !== undefined && !isOwn(origin))
  if (isForeign || (site === undefined && origin === undefined)) throw new GanglionError('foreign_origin')

  function isOwn(origin: string): boolean {
    const [url, known] = [URL.parse(origin), URL.parse(publicUrl ?? '')]
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false
    if (url.origin === known?.origin) return true
    // A page without TLS may have been changed on its way.
    const isWeaker = known?.protocol === 'https:' && url.protocol !== 'https:'
    return !isWeaker && url.host === URL.parse(`${url.protocol}//${host}`)?.host
  }
}

/**
 * Checks the token in a session's request, in the header or, once the body is parsed, in its field.
 * @throws {GanglionError} `stale_form`
 */
export function requireFormToken({ method, headers, body, formSecret }: FastifyRequest): void {
  if (safeMethods.has(method) || formSecret === undefined) return
  const token = headers[tokenHeader] ?? fieldOf(body)
  if (typeof token !== 'string' || !tokens.verify(formSecret, token)) throw new GanglionError('stale_form')
}

function fieldOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, tokenField) : undefined
}
