import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf, requireRole } from '../http/access/auth.ts'
import { rateOf } from '../http/access/rate-limits.ts'
import { requireFormToken } from '../http/access/session-cookie.ts'
import { withoutPrefix } from '../http/path-prefix.ts'
import { prefersToJson } from '../http/request/accept.ts'
import { answerError, refusalOf } from '../http/response/error-answer.ts'
import type { PagesContext } from '../http/server.ts'
import type { ZodFastify } from '../http/zod-compilers.ts'
import { firstKnowledgeBases } from '../pages/list-knowledge-bases.ts'
import { type Html, html } from './layout/html-template.ts'
import { barePage, maxListed } from './layout/page.ts'
import { isFragment, send, sendProblem } from './layout/page-routes.ts'

const maxFields = 100
/**
 * Names of fields that are not shown again: the token of the ended session, and the pressed button, so that nothing is written without
 * another press.
 */
const dropped: ReadonlySet<string> = new Set(['_csrf', 'do'])

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the handler checks the form's token itself, since it reads the body as a stream, or if the route changes nothing. */
    readsForm?: boolean
    /** True if a form whose session has ended is shown again with what was typed: see `keptFormPage`. */
    keepsForm?: boolean
  }
}

/** Admits signed-in people with requests from this server's pages, within their roles and rate limits. */
export function guardPages(app: ZodFastify, { ctx, limits }: PagesContext): void {
  app.decorateRequest('knowledgeBases', undefined)
  app.decorateRequest('previewBanner', undefined)
  app.addHook('onRequest', async (request, reply) => {
    await app.sessions.read(request, reply)
    const isKept = mayKeepForm(request)
    if (request.session === undefined && !isKept) return sendToSignIn(request, reply, ctx.urls.root)
    app.sessions.requireSameOrigin(request)
    // The form is read, to be shown again.
    if (request.session === undefined) return
    await limits.countRequest(request, reply, rateOf(request))
    requireRole(request)
    if (rateOf(request) !== 'read') await limits.checkDisk()
    // One more than the sidebar lists, since the list leaves out the knowledge base of the page.
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

/** True if the form may be shown again after its session. The cookie can be gone by then. The origin is checked in either case. */
function mayKeepForm(request: FastifyRequest): boolean {
  return request.method === 'POST' && request.routeOptions.config.keepsForm === true && !isFragment(request)
}

function isPage(request: FastifyRequest): boolean {
  return !isFragment(request) && prefersToJson('text/html', request.headers.accept)
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

export function answerWithPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!isFragment(request) && !isPage(request)) return answerError(error, request, reply)
  const { status, body } = refusalOf(error, request)
  return sendProblem(request, reply, status, String(body.message ?? body.error))
}

/**
 * Shows the content of a form whose session has ended, so that the person can copy it or send it after signing in in another tab. The
 * form's own preview, at `<path>/preview`, shows it and writes nothing.
 */
function keptFormPage({ body, url }: Pick<FastifyRequest, 'body' | 'url'>): Html {
  const [path = url] = url.split('?')
  const action = path.endsWith('/preview') ? path : `${path}/preview`
  const fields = fieldsIn(body)
  const text = fields.find(([name]) => name === 'content')?.[1]
  return barePage({
    title: 'You were signed out',
    main: html`<h1>You were signed out</h1>
      <p>Nothing was saved, and nothing is lost: what you typed is on this page.</p>
      <ol>
        <li><a href="/sign-in" target="_blank" rel="noopener">Sign in (in a new tab)</a>.</li>
        <li>Come back to this tab, and go on. You can check your text before you send it again.</li>
      </ol>
      <form method="post" action="${action}">
        ${fields
          .filter(([name]) => name !== 'content')
          .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
        ${
          text !== undefined &&
          html`<div class="field"><label for="kept">Your text</label>
          <textarea id="kept" name="content" rows="12" dir="auto">\n${text}</textarea></div>`
        }
        <button type="submit">Go on</button>
      </form>`,
  })
}

function fieldsIn(body: unknown): [name: string, value: string][] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body)
    .filter(([name]) => !dropped.has(name))
    .flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, String(value)]))
    .slice(0, maxFields)
}
