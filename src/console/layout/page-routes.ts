import { randomBytes } from 'node:crypto'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import { KbId } from '../../contract/identifiers.ts'
import { callerOf } from '../../http/access/auth.ts'
import { formTokenOf } from '../../http/access/session-cookie.ts'
import { policyWith } from '../../http/response/security-headers.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { type FormErrors, refusedForm } from './form.ts'
import { type Html, type HtmlPart, html } from './html-template.ts'
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
  const nonce = nonces.get(reply.request)
  if (nonce !== undefined) reply.header('content-security-policy', policyWith(nonce))
  return reply.code(status).type('text/html; charset=utf-8').send(String(markup))
}

/** True for a request of htmx, which needs the fragment that changes without the page around it. */
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

function visitIfAny(request: FastifyRequest): Visit | undefined {
  const { session, url, knowledgeBases, previewBanner } = request
  const styleNonce = () => nonces.getOrInsertComputed(request, () => randomBytes(16).toString('base64'))
  return session && { session, path: url, formToken: formTokenOf(request), styleNonce, knowledgeBases, previewBanner }
}

/** Returns the session. @throws {GanglionError} `invalid_token` if nobody is signed in */
export function visitOf(request: FastifyRequest): Visit {
  const visit = visitIfAny(request)
  if (visit === undefined) throw new GanglionError('invalid_token')
  return visit
}

export const KbParams = z.object({ kb: KbId })

/** Returns the schema of a whole number from 1 in the query. */
export function countField(maxDigits: number) {
  const pattern = new RegExp(`^[1-9][0-9]{0,${maxDigits - 1}}$`)
  return z.string().regex(pattern, 'must be a whole number from 1').transform(Number)
}

/** Returns the schema of a filter's field in the query. An empty value removes the filter. */
export function filter<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === '' ? undefined : value), schema.optional())
}

export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? path : `${path}?${parameters}`
}

/** A validated request of a signed-in person. */
export type ConsoleRequest<Params = unknown, Query = unknown, Body = unknown> = {
  request: FastifyRequest
  reply: FastifyReply
  visit: Visit
  caller: Caller
  params: Params
  query: Query
  body: Body
  /** Sentence about the action that redirected to this page. */
  notice: HtmlPart
}

/** Markup with status 200 or another one, the path to redirect to, or the reply if it has been sent. */
export type PageAnswer = Html | { page: Html; status: number } | { to: string } | FastifyReply

export type FormRefusal = { status: number; errors: FormErrors }

/** State of a page with a form: what was typed into it, and why that was rejected. */
export type FormView<Typed> = { notice?: HtmlPart; typed?: Typed | undefined; errors?: FormErrors | undefined }

type Schemas<P, Q, B> = {
  params?: P
  query?: Q
  body?: B
  config?: FastifyContextConfig
  /** Maximum bytes of the body, if it differs from the server's limit. */
  bodyLimit?: number
  /** Sentences by the value of `done` in the query. */
  notices?: Readonly<Record<string, string>>
}

type Sent<P, Q, B> = ConsoleRequest<z.output<P>, z.output<Q>, z.output<B>>
type Act<P, Q, B> = (sent: Sent<P, Q, B>) => PageAnswer | Promise<PageAnswer>

type FormRoute<P, Q, B> = Schemas<P, Q, B> & {
  act: Act<P, Q, B>
  /** Renders the form again, with the errors and what was typed. */
  refused(sent: Sent<P, Q, B>, refusal: FormRefusal): Html | Promise<Html>
  /** Returns why the form is rejected. Throws an error that the form cannot explain. */
  explain?(error: unknown): FormRefusal
}

type FormPage<P, Q, B> = Omit<FormRoute<P, Q, B>, 'refused'> & {
  /** Renders the page: at first, and again if its form is rejected. */
  show(sent: Sent<P, Q, unknown>, view: FormView<z.output<B>>): Html | Promise<Html>
}

type Pages = ReturnType<typeof pagesOf>

/** Returns a function that adds pages with the same configuration to the console. */
export function consolePages<Added extends void | Promise<void>>(
  shared: FastifyContextConfig,
  add: (pages: Pages, ctx: AppContext, app: ZodFastify) => Added,
): (app: ZodFastify, ctx: AppContext) => Added {
  return (app, ctx) => add(pagesOf(app, shared), ctx, app)
}

export function pagesOf(app: ZodFastify, shared: FastifyContextConfig) {
  const adding =
    (method: 'GET' | 'POST') =>
    <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
      url: string,
      { params, query, body, config, bodyLimit, notices = {} }: Schemas<P, Q, B>,
      act: Act<P, Q, B>,
    ): void => {
      const schema = { ...(params && { params }), ...(query && { querystring: query }), ...(body && { body }) }
      app.route({ method, url, config: { ...shared, ...config }, ...(bodyLimit && { bodyLimit }), schema, handler })

      async function handler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
        const done = new URLSearchParams(request.url.split('?')[1]).get('done') ?? ''
        const notice = Object.hasOwn(notices, done) && notices[done]
        const { params, query, body } = request
        const by = { visit: visitOf(request), caller: callerOf(request) }
        // The route's schemas have parsed the request.
        const answer = await act({ request, reply, ...by, notice, params, query, body } as Sent<P, Q, B>)
        // A reply is a thenable, which resolves to nothing once it has been sent.
        if (answer === undefined) return reply
        if (isMarkup(answer)) return send(reply, answer)
        if ('to' in answer) return reply.redirect(answer.to, 303)
        return 'page' in answer ? send(reply, answer.page, answer.status) : answer
      }
    }
  const [get, post] = [adding('GET'), adding('POST')]
  /** Adds a form that is shown again if it is rejected. */
  const form = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
    url: string,
    { act, refused, explain = refusedForm, ...schemas }: FormRoute<P, Q, B>,
  ): void =>
    post(url, schemas, async (sent) => {
      try {
        return await act(sent)
      } catch (error) {
        const refusal = explain(error)
        return { page: await refused(sent, refusal), status: refusal.status }
      }
    })
  return {
    ...{ get, post, form },
    /** Adds a page with a form that posts to the page's own path. */
    formPage<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
      url: string,
      { show, ...route }: FormPage<P, Q, B>,
    ): void {
      const { body: _, ...schemas } = route
      get(url, schemas, (sent) => show(sent, { notice: sent.notice }))
      form(url, { ...route, refused: (sent, { errors }) => show(sent, { typed: sent.body, errors }) })
    },
  }
}

function isMarkup(answer: PageAnswer): answer is Html {
  return answer instanceof String
}
