import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'
import { formTokenOf } from '../../http/access/session-cookie.ts'
import type { FirstKbs } from '../../pages/list-knowledge-bases.ts'
import type { Session } from '../../people/person-session.ts'
import type { Html } from './html-template.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The knowledge bases of the tenant, for the rail of a page. */
    knowledgeBases: FirstKbs | undefined
    /** What a page that shows a preview says of it. */
    previewBanner: Html | undefined
  }
}

export type Visit = {
  session: Session
  path: string
  /** Shows that a form came from a page of ours. */
  formToken: string
  /** Lets the styles in that a script of the page makes, as CodeMirror does. */
  styleNonce: () => string
  knowledgeBases?: FirstKbs | undefined
  previewBanner?: Html | undefined
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
