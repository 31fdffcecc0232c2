import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { chatOnce, wholeAnswer } from '../../chat/chat.ts'
import { ChatAnswer, ChatInput } from '../../contract/chat.ts'
import { callerOf } from '../access/auth.ts'
import { prefersEventStream } from '../request/accept.ts'
import { whenClientGone } from '../request/client-gone.ts'
import { IdempotencyHeader, idempotencyOf } from '../request/idempotency.ts'
import { writeErrors } from '../response/errors.ts'
import { EventStreams } from '../response/event-stream.ts'
import type { ZodFastify } from '../zod-compilers.ts'

const ChatEvents = z
  .string()
  .describe(
    'Events `delta` with `{"text": "…"}`, then one `done` with the whole answer as in JSON; or, where it cannot be completed, ' +
      'one `error` with the body of an error.',
  )

/** Adds the route that answers questions. */
export function chatRoutes(app: ZodFastify, ctx: AppContext): void {
  const streams = new EventStreams(app)
  app.post(
    '/chat',
    {
      config: { rate: 'chat' },
      schema: {
        tags: ['Chat'],
        operationId: 'chat',
        summary: 'Ask a question',
        description:
          'Answers from what the knowledge base holds, and cites it. The answer is one JSON object; a client that accepts ' +
          '`text/event-stream` is sent it as it comes, or with an `Idempotency-Key` whole.',
        headers: IdempotencyHeader,
        body: ChatInput,
        response: {
          200: {
            description: 'The answer.',
            content: { 'application/json': { schema: ChatAnswer }, 'text/event-stream': { schema: ChatEvents } },
          },
          ...writeErrors('idempotency_key_reused'),
        },
      },
    },
    async (request, reply) => {
      const isStreamed = prefersEventStream(request.headers.accept)
      const signal = isStreamed ? streams.signal(reply) : whenClientGone(reply)
      const answering = chatOnce(
        ctx,
        ctx.answerer,
        callerOf(request),
        request.body,
        signal,
        idempotencyOf(request.headers),
      )
      try {
        if (!isStreamed) return await wholeAnswer(answering)
        // What goes wrong before anything is said is an ordinary error.
        const first = await answering.next()
        return streams.answer(request, reply, async (send) => {
          for (let step = first; ; step = await answering.next()) {
            if (step.done === true) return send({ event: 'done', data: ChatAnswer.parse(step.value) })
            send({ event: 'delta', data: { text: step.value } })
          }
        })
      } catch (error) {
        // Nobody is there to be told.
        if (reply.raw.destroyed) return reply.hijack()
        throw error
      }
    },
  )
}
