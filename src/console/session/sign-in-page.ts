import type { FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'
import { button, type FormErrors, field, form, refusedForm } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { barePage } from '../layout/page.ts'
import { send } from '../layout/page-routes.ts'

type SignInView = {
  /** Path to go on to. */
  next: string
  email?: string | undefined
  /** Whether people may sign in with an identity provider. */
  hasSingleSignOn: boolean
  errors?: FormErrors
  notice?: HtmlPart
}

export function signInPage({ next, email, hasSingleSignOn, errors, notice }: SignInView): Html {
  const main = html`<h1>Sign in</h1>
    ${notice && html`<p class="notice" role="status">${notice}</p>`}
    ${hasSingleSignOn && html`<p><a class="button" href="/sign-in/oidc?next=${encodeURIComponent(next)}">Sign in with single sign-on</a></p><p>Or with a password:</p>`}
    ${form(
      { formToken: '' },
      { action: '/sign-in', errors },
      html`<input type="hidden" name="next" value="${next}">
      ${field({
        name: 'email',
        label: 'E-mail',
        type: 'email',
        value: email,
        attributes: { autocomplete: 'username', required: true },
      })}
      ${field({
        name: 'password',
        label: 'Password',
        type: 'password',
        attributes: { autocomplete: 'current-password', required: true },
      })}
      ${button('Sign in')}`,
    )}
    <p class="hint">Forgotten your password? Ask an administrator for a link to choose a new one.</p>`
  return barePage({ title: 'Sign in', main })
}

/** Shows the sign-in page with why nobody was signed in. Throws errors that are nothing of the person's doing. */
export function refuseSignIn(
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
  const message = `Too many failures to sign in. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
  reply.header('retry-after', retryAfter)
  return send(reply, signInPage({ ...view, errors: { formErrors: [message] } }), status)
}
