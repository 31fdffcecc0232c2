import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import { Email, NewPassword, PersonName } from '../../contract/people.ts'
import { clientAddress } from '../../http/access/session-cookie.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { endOwnSession } from '../../people/account.ts'
import { type LinkPurpose, makeAdministrator, readLink, setPasswordByLink } from '../../people/follow-links.ts'
import { signIn } from '../../people/sign-in.ts'
import { singleSignOn } from '../../people/single-sign-on.ts'
import { counted } from '../../rules/text/numbers.ts'
import { button, controlsOf, type FormErrors, FormFields, form, hidden, refusedForm } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { barePage } from '../layout/page.ts'
import { send } from '../layout/page-routes.ts'
import { nextPath } from './next-path.ts'

type SetUpView = {
  link: string
  view: LinkPurpose
  typed?: FormFields
  errors?: FormErrors
}

const BeginQuery = z.looseObject({ next: z.string().optional() })
/** State that the browser keeps while the person signs in at the provider. */
const Kept = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() })

const bodyLimit = 16 * 1024

const SignInQuery = z.looseObject({ next: z.string().optional(), done: z.string().optional() })
const LinkQuery = z.looseObject({ link: z.string().default('') })
const Administrator = z.object({ email: Email, name: PersonName, password: NewPassword })
const Later = z.object({
  email: z.preprocess((email) => email || 'admin@localhost', Email),
  name: z.preprocess((name) => name || 'Administrator', PersonName),
})
const ChosenPassword = z.object({ password: NewPassword })

export function openRoutes(app: ZodFastify, ctx: AppContext): void {
  const hasSingleSignOn = ctx.identityProvider !== undefined
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    app.sessions.requireSameOrigin(request)
    await app.sessions.read(request, reply)
  })

  app.get('/sign-in', { schema: { querystring: SignInQuery } }, async (request, reply) => {
    const next = nextPath(request.query.next)
    if (request.session !== undefined) return reply.redirect(next, 303)
    const notice = request.query.done === 'out' && 'You are signed out.'
    return send(reply, signInPage({ next, hasSingleSignOn, notice }))
  })

  app.post('/sign-in', { bodyLimit, schema: { body: FormFields } }, async (request, reply) => {
    const { email = '', password = '', next: asked } = request.body
    const next = nextPath(asked)
    try {
      await enter(request, reply, await signIn(ctx, { email, password }, app.sessions.clientOf(request)))
      return reply.redirect(next, 303)
    } catch (error) {
      return refuseSignIn(request, reply, error, { next, email, hasSingleSignOn })
    }
  })

  app.get('/set-up', { schema: { querystring: LinkQuery } }, async (request, reply) => {
    const { link } = request.query
    return send(reply, setUpPage({ link, view: await readLink(ctx, link) }))
  })

  app.post('/set-up', { bodyLimit, schema: { body: FormFields } }, async (request, reply) => {
    const { link = '' } = request.body
    const view = await readLink(ctx, link)
    try {
      await enter(request, reply, await useLink(view, link, request))
      return reply.redirect('/', 303)
    } catch (error) {
      const { status, errors } = refusedForm(error)
      if (status === 410) throw error
      return send(reply, setUpPage({ link, view, typed: request.body, errors }), status)
    }
  })

  if (ctx.identityProvider === undefined) return
  const provider = singleSignOn(ctx, ctx.identityProvider)

  // A link, not a form: the content security policy allows forms to lead to this server only.
  app.get('/sign-in/oidc', { schema: { querystring: BeginQuery } }, async (request, reply) => {
    const next = nextPath(request.query.next)
    try {
      const { url, flow } = await provider.begin(reachedAt(request))
      app.sessions.keep(reply, JSON.stringify({ ...flow, next }))
      return reply.redirect(url, 303)
    } catch (error) {
      return refuseSignIn(request, reply, error, { next, hasSingleSignOn: true })
    }
  })

  app.get('/sign-in/oidc/callback', async (request, reply) => {
    const kept = readKept(app.sessions.takeBack(request, reply))
    const next = nextPath(kept?.next)
    try {
      if (kept === undefined) {
        throw new GanglionError('sign_in_failed', 'This browser did not begin to sign in, or took too long. Try again.')
      }
      const { search } = new URL(request.url, reachedAt(request))
      await enter(request, reply, await provider.finish(reachedAt(request), search, kept, clientAddress(request)))
      return reply.redirect(next, 303)
    } catch (error) {
      return refuseSignIn(request, reply, error, { next, hasSingleSignOn: true })
    }
  })

  async function useLink(
    { kind }: LinkPurpose,
    link: string,
    request: FastifyRequest<{ Body: FormFields }>,
  ): Promise<string> {
    const { body } = request
    if (kind === 'password') {
      return setPasswordByLink(ctx, link, parseSent(ChosenPassword, body).password, clientAddress(request))
    }
    const given =
      body.later === 'true' ? { ...parseSent(Later, body), password: undefined } : parseSent(Administrator, body)
    return makeAdministrator(ctx, link, given, clientAddress(request))
  }

  /** Signs the browser in, and ends its previous session. */
  async function enter(request: FastifyRequest, reply: FastifyReply, token: string): Promise<void> {
    if (request.session !== undefined) await endOwnSession(ctx, request.session, request.session.id)
    await app.sessions.begin(reply, token)
  }
}

function reachedAt({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`
}

function readKept(text: string | undefined): z.output<typeof Kept> | undefined {
  try {
    return Kept.parse(JSON.parse(text ?? ''))
  } catch {
    return undefined
  }
}

/** Renders the form behind a one-time link: the first administrator's account, or a new password. */
function setUpPage({ link, view, typed = {}, errors }: SetUpView): Html {
  const isFirst = view.kind === 'first-administrator'
  const title = isFirst ? 'Welcome to Ganglion' : 'Choose a password'
  const main = html`<h1>${title}</h1>
    <p>${isFirst ? 'This link makes you the administrator of this server. It works once.' : html`For <bdi>${view.name}</bdi>, who signs in as <strong>${view.email}</strong>.`}</p>
    ${form(
      { formToken: '' },
      { action: '/set-up', errors },
      html`${hidden({ link })}
      ${isFirst ? aboutYou(typed, errors) : html`<input type="hidden" name="username" value="${view.email}" autocomplete="username">`}
      ${controlsOf({}, errors).text('password', 'Password', {
        hint: 'At least 12 characters. Three or four unrelated words are easy to remember.',
        ...{ type: 'password', autocomplete: 'new-password', required: true, minlength: 12 },
      })}
      <div class="row">
        ${button(isFirst ? 'Make my account' : 'Save and sign in')}
        ${isFirst && button('Look around first', { name: 'later', value: 'true', class: 'second', formnovalidate: true })}
      </div>`,
    )}
    ${isFirst && html`<p class="hint">Just looking? You can give your e-mail and choose a password later, in your account.</p>`}`
  return barePage({ title, main })
}

function aboutYou(typed: FormFields, errors: FormErrors | undefined): Html[] {
  const { text } = controlsOf(typed, errors)
  return [
    text('email', 'E-mail', {
      hint: 'You sign in with it. No mail is sent.',
      ...{ type: 'email', autocomplete: 'username', required: true },
    }),
    text('name', 'Your name', { hint: 'Shown with your decisions.', autocomplete: 'name', required: true }),
  ]
}

type SignInView = {
  next: string
  email?: string | undefined
  hasSingleSignOn: boolean
  errors?: FormErrors
  notice?: HtmlPart
}

function signInPage({ next, email, hasSingleSignOn, errors, notice }: SignInView): Html {
  const { text } = controlsOf({ email }, errors)
  const main = html`<h1>Sign in</h1>
    ${notice && html`<p class="notice" role="status">${notice}</p>`}
    ${hasSingleSignOn && html`<p><a class="button" href="/sign-in/oidc?next=${encodeURIComponent(next)}">Sign in with single sign-on</a></p><p>Or with a password:</p>`}
    ${form({ formToken: '' }, { action: '/sign-in', errors }, [
      hidden({ next }),
      text('email', 'E-mail', { type: 'email', autocomplete: 'username', required: true }),
      text('password', 'Password', { type: 'password', autocomplete: 'current-password', required: true }),
      button('Sign in'),
    ])}
    <p class="hint">Forgotten your password? Ask an administrator for a link to choose a new one.</p>`
  return barePage({ title: 'Sign in', main })
}

/** Shows the sign-in page with the reason of a failed sign-in. Throws errors of the server. */
function refuseSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  view: Omit<SignInView, 'errors'>,
): FastifyReply {
  const isUnreachable = error instanceof GanglionError && error.code === 'provider_unavailable'
  const { status, errors } = isUnreachable
    ? { status: error.status, errors: { formErrors: [error.message] } }
    : refusedForm(error)
  request.log.info(
    { status, remoteAddress: request.ip, err: error instanceof Error ? error.cause : undefined },
    'sign-in refused',
  )
  const { retryAfter } = error instanceof GanglionError ? error.details : {}
  if (typeof retryAfter !== 'number') return send(reply, signInPage({ ...view, errors }), status)
  const minutes = Math.ceil(retryAfter / 60)
  const message = `Too many failures to sign in. Try again in ${counted(minutes, 'minute')}.`
  reply.header('retry-after', retryAfter)
  return send(reply, signInPage({ ...view, errors: { formErrors: [message] } }), status)
}
