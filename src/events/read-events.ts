import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventsQuery, LoggedEvent } from '../contract/events.ts'
import type { Context } from '../kb/context.ts'
import { openSome } from '../kb/kb-access.ts'
import type { Caller } from '../rules/access/caller.ts'
import { inUse } from '../system/concurrency/present-work.ts'
import { EventView } from './event-view.ts'

export type EventStream = {
  /** Id of the event after which the stream begins. */
  after: number
  /** True if events between the requested id and `after` are lost. */
  hasGap: boolean
  /** Yields events as they happen, several at a time. Ends when the signal aborts. */
  events: AsyncGenerator<LoggedEvent[], void>
}

const pageSize = 500

/**
 * Follows a tenant's events, or those of one knowledge base, after an id (absent: from now on). Leaves out events that the caller
 * may not see, but a key always gets the status of candidates that it sent.
 * @throws {GanglionError} `not_found`
 */
export async function readEvents(
  ctx: Context,
  caller: Caller,
  { kb, lastEventId }: EventsQuery & { lastEventId?: number | undefined },
  signal: AbortSignal,
): Promise<EventStream> {
  const log = ctx.events
  const { tenantId } = caller
  const kbId = await followed(ctx, tenantId, kb)
  const { first, last } = await log.range(tenantId)
  const asked = lastEventId ?? last
  // A requested id that is still to come was assigned before a backup was restored.
  const after = asked > last ? last : Math.max(asked, first - 1)
  const view = new EventView(ctx, caller)
  const events = async function* () {
    for (let at = after; !signal.aborted; ) {
      const seen = log.arrivals(tenantId)
      const page = await log.after(tenantId, at, pageSize)
      at = page.at(-1)?.id ?? at
      const told = await view.tell(page.filter((event) => kbId === undefined || event.kbId === kbId))
      if (told.length > 0) yield told
      if (page.length === pageSize)
        await nextTurn() // SQLite responds without yielding to other work.
      else await log.arrival(tenantId, seen, signal)
    }
  }
  return { after, hasGap: after !== asked, events: events() }
}

/** Opens the knowledge bases to follow, since the refs of closed ones are not watched. */
async function followed(ctx: Context, tenantId: string, kb: string | undefined): Promise<string | undefined> {
  if (kb !== undefined) return (await inUse(() => ctx.kb(tenantId, kb))).identity.id
  await openSome(ctx, tenantId)
  return undefined
}
