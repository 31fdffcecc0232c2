import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { ErrorAnswer } from '../../contract/envelope.ts'
import { callerOf } from '../access/auth.ts'
import { refuseForeignOrigin } from '../access/origin.ts'
import { whenClientGone } from '../request/client-gone.ts'
import { writeErrors } from '../response/error-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import type { Exchange } from './tool.ts'

const path = '/mcp'

const Message = z.looseObject({ jsonrpc: z.literal('2.0').describe('Version of JSON-RPC.') }).meta({
  id: 'McpMessage',
  description: 'A message of JSON-RPC 2.0.',
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
})
const Stream = z.string().meta({
  description: 'Messages of JSON-RPC 2.0 as server-sent events.',
  examples: ['event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'],
})

const errors = writeErrors('foreign_origin')

/**
 * Adds the Model Context Protocol over streamable HTTP, in the revision of 2026-07-28 and in earlier ones, without sessions: the
 * newest revision has none, the tools need none, and any server can answer a message. A client that disconnects stops the work; in the
 * newest revision, cancelling is the same. Earlier revisions cancel with a message, which is ignored, because ids of calls are unique
 * only within a session.
 */
export function mcpRoutes(
  app: ZodFastify,
  { publicUrl, ...dependencies }: Pick<Exchange, 'ctx' | 'limits'> & { publicUrl: string | undefined },
): void {
  app.addHook('onRequest', refuseForeignOrigin(publicUrl))

  app.post(
    path,
    {
      // A tool that writes or chats also counts as a write or chat.
      config: { rate: 'read' },
      schema: {
        tags: ['Agents'],
        operationId: 'mcp',
        summary: 'Send a message of the Model Context Protocol',
        description:
          'Serves tools for agents over streamable HTTP without sessions. Connect a client of the protocol to this URL with an API key ' +
          'as bearer token. `tools/call` of `submit_candidate` or `ask` is not idempotent; other messages change nothing. Fails with ' +
          '`foreign_origin` for a request from a page of another site. The error of a tool is a result with `isError`, whose text has ' +
          'the stable code.',
        body: Message,
        response: {
          200: {
            description:
              'The response to a request. JSON, unless the client subscribes to changes: then a stream that ends at once.',
            content: { 'application/json': { schema: Message }, 'text/event-stream': { schema: Stream } },
          },
          202: z.null().describe('A notification was accepted.'),
          ...errors,
          400: ErrorAnswer.or(Message).describe('The request is not valid HTTP, JSON or JSON-RPC.'),
          404: ErrorAnswer.or(Message).describe('The method does not exist.'),
          406: Message.describe('`Accept` must have both `application/json` and `text/event-stream`.'),
        },
      },
    },
    async (request, reply) => {
      // The library takes 8 MB: it is loaded with the first message.
      const { answerMessage } = await import('./answer-message.ts')
      const { headers, body } = request
      const exchange: Exchange = {
        ...dependencies,
        caller: callerOf(request),
        request,
        reply,
        signal: whenClientGone(reply),
      }
      return sendResponse(reply, await answerMessage(exchange, { path, headers, body }))
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
