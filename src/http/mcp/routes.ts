import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import { callerOf } from '../access/auth.ts'
import { whenClientGone } from '../request/client-gone.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import type { Exchange } from './tool.ts'

const Message = z.looseObject({ jsonrpc: z.literal('2.0') })

/** The only protocol revision with batches. A client that names no revision counts as one of this revision, which has no such header. */
const batchRevision = '2025-03-26'
const maxBatch = 20
const Batched = Message.refine(({ method }) => method !== 'initialize')
const Batch = z
  .array(z.unknown())
  .min(1)
  .max(maxBatch)
  .refine((batch) => batch.every((sent) => Batched.safeParse(sent).success), 'must have messages, none `initialize`')

/**
 * Adds the Model Context Protocol over streamable HTTP, in the revision of 2026-07-28 and in earlier ones, without sessions: the
 * newest revision has none, the tools need none, and any server can answer a message. A client that disconnects stops the work; in the
 * newest revision, cancelling is the same. Earlier revisions cancel with a message, which is ignored, because ids of calls are unique
 * only within a session.
 */
export function mcpRoutes(
  app: ZodFastify,
  { publicUrl, ctx, limits }: Pick<Exchange, 'ctx' | 'limits'> & { publicUrl: string | undefined },
): void {
  app.addHook('onRequest', refuseForeignOrigin(publicUrl))

  app.post(
    '/',
    // A tool that writes or chats also counts as a write or chat.
    { config: { rate: 'read' } },
    async (request, reply) => {
      const { headers, body } = request
      if (!Array.isArray(body)) parseSent(Message, body)
      else if ((headers['mcp-protocol-version'] ?? batchRevision) !== batchRevision)
        throw new GanglionError('malformed_request', `Send one message: only revision ${batchRevision} has batches.`)
      else await limits.countRequest(request, reply, 'read', parseSent(Batch, body).length - 1)
      // Loaded with the first message, since the library takes 8 MB.
      const { answerMessage } = await import('./answer-message.ts')
      const exchange: Exchange = {
        ...{ ctx, limits },
        caller: callerOf(request),
        request,
        reply,
        signal: whenClientGone(reply),
      }
      return sendResponse(reply, await answerMessage(exchange, { headers, body }))
    },
  )
}

/** Sends the whole response at once: no tool streams. */
async function sendResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  const type = response.headers.get('content-type')
  if (type === null) return reply.code(response.status).send()
  return reply
    .code(response.status)
    .type(type)
    .send(await response.text())
}

/**
 * Returns a hook that rejects requests from pages of other sites, as the Model Context Protocol requires (Streamable HTTP, security): a
 * request with an `Origin` other than the server's own throws `foreign_origin`. Programs send no `Origin`.
 */
function refuseForeignOrigin(publicUrl: string | undefined): (request: FastifyRequest) => Promise<void> {
  const publicOrigin = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.origin
  return async ({ headers: { origin, host } }) => {
    if (origin === undefined) return
    const url = URL.parse(origin)
    if (url === null || !(url.origin === publicOrigin || isOriginOfHost(url, host))) {
      throw new GanglionError('foreign_origin')
    }
  }
}

/**
 * True if an origin is that of the request's host. A name in `Host` proves nothing: an attacker can make the name of their page resolve to
 * this server (DNS rebinding).
 */
function isOriginOfHost(origin: URL, host: string | undefined): boolean {
  const isHttp = origin.protocol === 'http:' || origin.protocol === 'https:'
  if (!isHttp || URL.parse(`${origin.protocol}//${host}`)?.host !== origin.host) return false
  return origin.hostname === 'localhost' || isIP(origin.hostname.replace(/^\[|\]$/g, '')) !== 0
}
