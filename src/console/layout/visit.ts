import type { FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'
import { formTokenOf } from '../../http/access/session-cookie.ts'
import type { Session } from '../../people/person-session.ts'

/** Who looks at a page, and at which. */
export type Visit = {
  session: Session
  path: string
  /** Shows that a form came from a page of ours. */
  formToken: string
}

/** The visit of a request, if somebody is signed in. */
export function visitIfAny(request: FastifyRequest): Visit | undefined {
  const { session, url } = request
  return session && { session, path: url, formToken: formTokenOf(request) }
}

/** @throws {GanglionError} `invalid_token` where nobody is signed in. */
export function visitOf(request: FastifyRequest): Visit {
  const visit = visitIfAny(request)
  if (visit === undefined) throw new GanglionError('invalid_token')
  return visit
}
