import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { errorTable } from '../../contract/errors.ts'
import { answerError } from '../errors.ts'

const Envelope = z.object({ message: z.string() }).catch({ message: errorTable.malformed_request.message })
/** Git, and libraries that speak as git does. */
const gitAgent = /^(?:j|go-)?git\//i

/** Answers an error as everywhere; git itself is told the message alone, as the plain text that it shows to its user. */
export function answerGitError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (gitAgent.test(request.headers['user-agent'] ?? '')) {
    reply.type('text/plain; charset=utf-8').serializer((body: unknown) => `${Envelope.parse(body).message}\n`)
  }
  return answerError(error, request, reply)
}
