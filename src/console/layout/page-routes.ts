import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'
import { formTokenOf } from '../../http/access/session-cookie.ts'
import { policyWith } from '../../http/response/security-headers.ts'
import { type Html, html } from './html-template.ts'
import { barePage, page, type Visit } from './page.ts'

type Problem = { status: number; message: string }

const errorTitles: Readonly<Record<number, string>> = {
  403: 'You may not do that',
  404: 'There is nothing here',
  429: 'Too many requests',
  503: 'Not ready',
  507: 'The disk is nearly full',
}

export function send(reply: FastifyReply, markup: Html, status = 200): FastifyReply {
  const nonce = askedNonce(reply.request)
  if (nonce !== undefined) reply.header('content-security-policy', policyWith(nonce))
  return reply.code(status).type('text/html; charset=utf-8').send(String(markup))
}

/** Whether htmx asks: it wants the fragment that changes, not the page around it. */
export function isFragment({ headers }: FastifyRequest): boolean {
  return headers['hx-request'] === 'true'
}

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

export function errorPage(visit: Visit | undefined, { status, message }: Problem): Html {
  const title = errorTitles[status] ?? (status < 500 ? 'That did not work' : 'Something went wrong')
  const main = html`<h1>${title}</h1>
    <p>${message}</p>
    <p><a href="/">Go to the start page</a></p>`
  return visit === undefined ? barePage({ title, main }) : page(visit, { title, main })
}

const nonces = new WeakMap<FastifyRequest, string>()

export function visitIfAny(request: FastifyRequest): Visit | undefined {
  const { session, url, knowledgeBases, previewBanner } = request
  const styleNonce = () => nonces.getOrInsertComputed(request, () => randomBytes(16).toString('base64'))
  return session && { session, path: url, formToken: formTokenOf(request), styleNonce, knowledgeBases, previewBanner }
}

/** @throws {GanglionError} `invalid_token` where nobody is signed in. */
export function visitOf(request: FastifyRequest): Visit {
  const visit = visitIfAny(request)
  if (visit === undefined) throw new GanglionError('invalid_token')
  return visit
}

export function askedNonce(request: FastifyRequest): string | undefined {
  return nonces.get(request)
}
