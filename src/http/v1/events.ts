import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { EventKind, EventsQuery, LastEventId } from '../../contract/events.ts'
import { readEvents } from '../../events/read-events.ts'
import { callerOf, isStillLetIn } from '../access/auth.ts'
import type { Limits } from '../access/limits.ts'
import { readErrors } from '../response/errors.ts'
import { EventStreams } from '../response/event-stream.ts'
import type { ZodFastify } from '../zod-compilers.ts'

/** Milliseconds after which a client that was cut off asks again. */
const retry = 2_000
/** Milliseconds between two checks of a quiet stream whether its client may still read it. */
const checkInterval = 5_000

const description = `Server-sent events, as they happen, of the tenant or of one knowledge base. \`id\` grows, \`event\` is the
kind, and \`data\` is JSON: \`{id, kind, tenantId, kbId, at}\` with \`documentId\`, \`candidateId\`, \`seqId\`, \`commit\`, \`status\`,
\`problems\`, \`stage\`, \`done\`, \`total\`, \`neurons\`, \`pending\` and \`error\` where they apply. Kinds: ${EventKind.options.map((kind) => `\`${kind}\``).join(', ')}. \`kb.pushed\` names each commit of
\`main\` that came by git, and in \`problems\` what was wrong with it, or that the branch was moved back. \`ingest.progress\` tells how far a stage of an ingest is, at most once a second; \`total\` is 0 where it is
not known.

Without \`Last-Event-ID\` the stream begins now, and says at which id, so that a client that is cut off misses nothing. With it, the
stream begins with the event that follows: events are kept for 7 days, at most a million of a tenant. Where events that followed
are no longer kept, or the id is not one of this server, the stream begins with an event \`gap\`, without an id, whose data is
\`{lastEventId, resumedAfter}\`: what the client knows of the knowledge base must be read anew. Then come the events that are kept.
\`lastEventId\` is null if it was not a number.

A \`curator\` key is told everything. An \`app\` key is told of the Neurons and Sources that it may see when it is told, and of the
candidates for them. It is always told of the Sources that it uploaded, and of the status of the candidates that it sent.

A person who is a \`reader\` is told of the Neurons that they may see, and of nothing else.

A comment comes every 15 seconds. The server closes a stream after an hour, when its key is revoked or its session ends, and
when its client does not read; a client then asks again. A key may have 10 streams, a tenant 100.`

const EventStream = z.string().describe('The events.')

/** Adds the stream of events. `maxAge`: milliseconds after which the server closes one. */
export function eventRoutes(
  app: ZodFastify,
  ctx: AppContext,
  { limits, maxAge }: { limits: Pick<Limits, 'openStream'>; maxAge: number },
): void {
  const streams = new EventStreams(app)
  app.get(
    '/events',
    {
      // Nothing would end the stream behind an answer without a body.
      exposeHeadRoute: false,
      config: { roles: ['app', 'curator'], people: 'reader', isBackground: true },
      schema: {
        tags: ['Events'],
        operationId: 'readEvents',
        summary: 'Follow what happens',
        description,
        querystring: EventsQuery,
        headers: LastEventId,
        response: {
          200: {
            description: 'A stream that does not end.',
            content: { 'text/event-stream': { schema: EventStream } },
          },
          ...readErrors('insufficient_role'),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { 'last-event-id': lastEventId } = request.headers
      const release = limits.openStream(caller)
      const shutOut = new AbortController()
      const signal = AbortSignal.any([streams.signal(reply), AbortSignal.timeout(maxAge), shutOut.signal])
      const check = async () => {
        if (!(await isStillLetIn(request, ctx, app).catch(() => false))) shutOut.abort()
      }
      const checking = setInterval(() => void check(), checkInterval).unref()
      const end = () => {
        clearInterval(checking)
        release()
      }
      try {
        const { after, hasGap, events } = await readEvents(ctx, caller, { ...request.query, lastEventId }, signal)
        return streams.answer(request, reply, async (send, taken) => {
          try {
            const known = Number.isFinite(lastEventId) ? lastEventId : null
            if (hasGap) send({ event: 'gap', data: { lastEventId: known, resumedAfter: after } })
            send({ id: String(after), retry })
            for await (const some of events) {
              await check()
              if (shutOut.signal.aborted) return
              for (const event of some) send({ id: String(event.id), event: event.kind, data: event })
              await taken()
            }
          } finally {
            end()
          }
        })
      } catch (error) {
        end()
        throw error
      }
    },
  )
}
