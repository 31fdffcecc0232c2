import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { errorTable } from '../../contract/errors.ts'
import type { GitService } from '../../push/git/git-transfers.ts'
import { refusedFetch, refusedPush } from '../../push/git/refused-transfer.ts'
import { answerError, refusalOf } from '../response/error-answer.ts'
import { type BodyLimits, readBody } from './request-body.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Service whose request is in the body, in git's own protocol. */
    gitService?: GitService
  }
}

const Envelope = z.object({ message: z.string() }).catch({ message: errorTable.malformed_request.message })
const gitAgent = /^(?:j|go-)?git\//i
/** Statuses that are sent as they are: the body must not be read, or is not in git's protocol. */
const toldByStatus: ReadonlySet<number> = new Set([400, 401, 403, 413, 415])

/**
 * Sends an error as other routes do, but to a git client in a form that git shows to its user. For the advertisement of refs that is plain
 * text. For a fetch or a push, git shows only the status, unless it is 200 with the reason in git's protocol.
 */
export async function answerGitError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  limitsOf: (service: GitService) => BodyLimits,
): Promise<FastifyReply> {
  if (!gitAgent.test(request.headers['user-agent'] ?? '')) return answerError(error, request, reply)
  const { gitService } = request.routeOptions.config
  const isRead = gitService === 'receive-pack' && request.raw.readableDidRead
  const refusal = gitService === undefined || isRead ? undefined : refusalOf(error, request)
  if (gitService === undefined || refusal === undefined || toldByStatus.has(refusal.status)) {
    reply.type('text/plain; charset=utf-8').serializer((body: unknown) => `${Envelope.parse(body).message}\n`)
    return answerError(error, request, reply)
  }
  const { message } = Envelope.parse(refusal.body)
  const answer =
    gitService === 'upload-pack'
      ? refusedFetch(message)
      : await refusedPush(readBody(request, reply, limitsOf(gitService)), message)
  reply.code(200).header('cache-control', 'no-cache, no-store').type(`application/x-git-${gitService}-result`)
  return reply.send(answer.toString())
}
