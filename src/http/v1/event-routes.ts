import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import { EventsQuery, LastEventId, LoggedEvent } from '../../contract/events.ts'
import { readEvents } from '../../events/read-events.ts'
import { isStillLetIn } from '../access/auth.ts'
import type { Limits } from '../access/rate-limits.ts'
import { EventStreams } from '../response/event-stream.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

/** Milliseconds after which a disconnected client reconnects. */
const retry = 2_000
/** Milliseconds between two checks whether the client of a quiet stream may still read it. */
const checkInterval = 5_000

const description = `Streams server-sent events of the tenant or of one knowledge base. In each event, \`id\` grows, \`event\` is the
kind, and \`data\` is an \`Event\` as JSON. \`kb.pushed\` is sent for each commit that git
pushed to \`main\`; its \`problems\` list the faults of the commit, or say that the branch was moved back. \`ingest.progress\` is sent at
most once a second; its \`total\` is 0 while it is unknown.

Without \`Last-Event-ID\`, the stream starts with new events, and first sends the id to resume from. With it, the stream starts with
the next event. The server keeps events for 7 days if its operator set no other time, at most a million of a tenant. If the events after \`Last-Event-ID\` are no longer
kept, or the id is unknown, the stream starts with an event \`gap\` without an id, whose data is \`{lastEventId, resumedAfter}\`, followed
by the events that are kept. The client must then read its copy of the knowledge base again. \`lastEventId\` is null if it was not a
number.

A \`curator\` key gets all events. An \`app\` key gets the events of the Neurons and Sources that it may see at that time, of the
candidates for them, of the Sources that it uploaded, and the status of the candidates that it submitted. A person with the role
\`reader\` gets the events of the Neurons that they may see.

The server sends a comment every 15 seconds. It closes a stream after an hour and when the client does not read; the client then
reconnects. When the key is revoked, the session ends, or the tenant or the knowledge base is disabled, the stream ends with an event
\`error\`, whose data is the error that a new request gets. Idempotent: changes nothing. Fails with \`insufficient_role\` for a \`reader\` key, with
\`not_found\` if \`kb\` does not exist, and with \`rate_limited\` above 10 streams of a key or 100 of a tenant.`

const EventStream = z
  .string()
  .describe('The events.')
  .meta({
    contentSchema: LoggedEvent,
    examples: ['id: 42\nevent: candidate.approved\ndata: {"id":42,"kind":"candidate.approved"}\n\n'],
  })

/** Adds the stream of events. `maxAge`: milliseconds after which the server closes a stream. */
export function eventRoutes(
  app: ZodFastify,
  ctx: AppContext,
  { limits, maxAge }: { limits: Pick<Limits, 'openStream'>; maxAge: number },
): void {
  const forStreams = operationsOf(app, ctx, 'Events', {
    roles: ['app', 'curator'],
    people: 'reader',
    isBackground: true,
  })

  const streams = new EventStreams(app)
  forStreams.get('/events', {
    operationId: 'readEvents',
    summary: 'Follow events',
    description,
    querystring: EventsQuery,
    headers: LastEventId, // A HEAD request would hold a stream open.
    exposeHeadRoute: false,
    answers: {
      200: {
        description: 'A stream of events without end.',
        content: { 'text/event-stream': { schema: EventStream } },
      },
    },
    run: async ({ ctx, caller, query, headers, request, reply }) => {
      const { 'last-event-id': lastEventId } = headers
      const release = limits.openStream(caller)
      const shutOut = new AbortController()
      const signal = AbortSignal.any([streams.signal(reply), AbortSignal.timeout(maxAge), shutOut.signal])
      const check = async () => {
        try {
          if (!(await isStillLetIn(request, ctx, app))) throw new GanglionError('invalid_token')
          const { kb } = query
          const isServed = kb === undefined || (await ctx.knowledgeBases.find(caller.tenantId, kb)) !== undefined
          if (!isServed) throw new GanglionError('not_found')
        } catch (error) {
          shutOut.abort(error)
        }
      }
      const checking = setInterval(() => void check(), checkInterval).unref()
      const end = () => {
        clearInterval(checking)
        release()
      }
      try {
        const { after, hasGap, events } = await readEvents(ctx, caller, { ...query, lastEventId }, signal)
        return streams.answer(request, reply, async (send, taken) => {
          try {
            const known = Number.isFinite(lastEventId) ? lastEventId : null
            if (hasGap) send({ event: 'gap', data: { lastEventId: known, resumedAfter: after } })
            send({ id: String(after), retry })
            for await (const some of events) {
              await check()
              if (shutOut.signal.aborted) break
              for (const event of some) send({ id: String(event.id), event: event.kind, data: event })
              await taken()
            }
            shutOut.signal.throwIfAborted()
          } finally {
            end()
          }
        })
      } catch (error) {
        end()
        throw error
      }
    },
  })
}
