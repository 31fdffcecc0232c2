import type { FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'
import { refusedForm } from '../layout/form.ts'
import { send } from '../layout/page-routes.ts'
import { type SignInView, signInPage } from './sign-in-page.ts'

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
  request.log.info({ status, remoteAddress: request.ip, err: causeOf(error) }, 'sign-in refused')
  const { retryAfter } = error instanceof GanglionError ? error.details : {}
  if (typeof retryAfter !== 'number') return send(reply, signInPage({ ...view, errors }), status)
  const minutes = Math.ceil(retryAfter / 60)
  const message = `Too many failures to sign in. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
  reply.header('retry-after', retryAfter)
  return send(reply, signInPage({ ...view, errors: { formErrors: [message] } }), status)
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}
