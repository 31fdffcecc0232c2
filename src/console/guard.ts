import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf, requireRole } from '../http/access/auth.ts'
import { rateOf } from '../http/access/rate-limits.ts'
import { requireFormToken } from '../http/access/session-cookie.ts'
import { withoutPrefix } from '../http/path-prefix.ts'
import { answerError, refusalOf } from '../http/response/error-answer.ts'
import type { PagesContext } from '../http/server.ts'
import type { ZodFastify } from '../http/zod-compilers.ts'
import { firstKnowledgeBases } from '../pages/list-knowledge-bases.ts'
import { html } from './layout/html-template.ts'
import { keptFormPage } from './layout/kept-form-page.ts'
import { maxListed } from './layout/page.ts'
import { isFragment, send, sendProblem } from './layout/send.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler checks the form's token itself, since it reads the body as it arrives; or the route changes nothing. */
    readsForm?: boolean
    /** What was typed into the form is worth keeping where its session has ended: see `keptFormPage`. */
    keepsForm?: boolean
  }
}

/** Lets in people who are signed in, from pages of this server, as often and as far as they may. */
export function guardPages(app: ZodFastify, { ctx, limits }: PagesContext): void {
  app.decorateRequest('knowledgeBases', undefined)
  app.addHook('onRequest', async (request, reply) => {
    await app.sessions.read(request, reply)
    const isKept = mayKeepForm(request)
    if (request.session === undefined && !isKept) return sendToSignIn(request, reply, ctx.urls.root)
    app.sessions.requireSameOrigin(request)
    // Its body is read, and shown again.
    if (request.session === undefined) return
    await limits.countRequest(request, reply, rateOf(request))
    requireRole(request)
    if (rateOf(request) !== 'read') await limits.checkDisk()
    // One more than the rail has: it leaves out that of the page.
    if (isPage(request)) request.knowledgeBases = await firstKnowledgeBases(ctx, callerOf(request), maxListed + 1)
  })
  app.addHook('preValidation', async (request, reply) => {
    if (request.session === undefined) return send(reply, keptFormPage(request), 401)
    if (request.routeOptions.config.readsForm === true) return
    try {
      requireFormToken(request)
    } catch (error) {
      if (request.routeOptions.config.keepsForm !== true || isFragment(request)) throw error
      return send(reply, keptFormPage(request), 403)
    }
  })
}

/** Also without a cookie: signing out in another tab, or its age, has removed it. That the form is ours is checked in either case. */
function mayKeepForm(request: FastifyRequest): boolean {
  return request.method === 'POST' && request.routeOptions.config.keepsForm === true && !isFragment(request)
}

function isPage(request: FastifyRequest): boolean {
  return !isFragment(request) && request.headers.accept?.includes('text/html') === true
}

function signInPath(next: string): string {
  return `/sign-in?next=${encodeURIComponent(next)}`
}

function sendToSignIn(request: FastifyRequest, reply: FastifyReply, prefix: string): FastifyReply {
  if (isFragment(request)) {
    const from = URL.parse(String(request.headers['hx-current-url'] ?? ''))
    const next = from === null ? '/' : withoutPrefix(from.pathname, prefix) + from.search
    return send(reply.header('hx-redirect', signInPath(next)), html``, 401)
  }
  if (request.method === 'GET') return reply.redirect(signInPath(request.url))
  return sendProblem(request, reply, 401, 'You were signed out. Sign in, go back, and send it again.')
}

/** Answers any error as a page for people, and as the API does for programs. */
export function answerWithPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!isFragment(request) && !isPage(request)) return answerError(error, request, reply)
  const { status, body } = refusalOf(error, request)
  return sendProblem(request, reply, status, String(body.message ?? body.error))
}
