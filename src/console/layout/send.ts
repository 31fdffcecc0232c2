import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorPage } from './error-page.ts'
import { type Html, html } from './html.ts'
import { visitIfAny } from './visit.ts'

/** Answers with a page, or with the part of one that a script asked for. */
export function send(reply: FastifyReply, markup: Html, status = 200): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(String(markup))
}

/** Whether htmx asks: it wants the fragment that changes, not the page around it. */
export function isFragment({ headers }: FastifyRequest): boolean {
  return headers['hx-request'] === 'true'
}

/** Answers with a page, or a fragment, that says what went wrong. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  message: string,
): FastifyReply {
  const problem = isFragment(request)
    ? html`<p class="problems" role="alert">${message}</p>`
    : errorPage(visitIfAny(request), { status, message })
  return send(reply, problem, status)
}
