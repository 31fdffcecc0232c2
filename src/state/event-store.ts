import { EventEmitter } from 'node:events'
import type { Kysely, Transaction } from 'kysely'
import { z } from 'zod'
import { EventData, type EventKind } from '../contract/events.ts'
import { Notifications } from './database/notifications.ts'
import { camelCase, daysBefore } from './database/row-values.ts'
import type { RowOf, Schema } from './database/schema.ts'
import { changedRows, findRow, Store, selectRows, updateRows } from './database/store.ts'
import { inTransaction } from './database/transaction.ts'
import { servedKbs } from './lifecycle.ts'

/** Fields of a candidate that decide who is notified of it. */
const EventCandidate = z.object({
  /** Id of the sender: see `Actor`. */
  sender: z.string(),
  /** seqId of the Neuron to change. */
  target: z.string().nullable(),
  /** Tags that the candidate proposes for a new Neuron. */
  tags: z.array(z.string()),
  audience: z.array(z.string()).optional(),
  /** Index of the candidate's decision that the event reports, from 0. */
  decision: z.int().optional(),
})
export type EventCandidate = z.infer<typeof EventCandidate>

export type NewEvent = {
  kbId: string
  kind: EventKind
  /** True if only curators might know of it when it happened. */
  isCuratorOnly: boolean
  data: EventData
  /** Candidate that the event is about, if any. */
  candidate?: EventCandidate | undefined
}

/** Event with its id and time. `at`: ISO 8601, UTC. */
export type StoredEvent = NewEvent & { id: number; at: string }

/** Commits of a knowledge base up to which its events are logged. */
export type LoggedHeads = { main: string | undefined; queue: string | undefined }

type Whose = { id: string; tenantId: string }
type PastEvents = {
  before: number
  kbId: string | undefined
  kinds: readonly EventKind[]
  isCurator: boolean
  limit: number
}

/** Maximum events of a tenant. Beyond it, the oldest are removed. */
const maxKept = 1_000_000
/** Maximum rows of a statement. SQLite accepts 32,766 values in one. */
const rowsAtOnce = 1_000
const sweptAtOnce = 10_000

/**
 * Log of events by tenant, in the order of their ids. Ids have no gaps and are never reused: the last event of a tenant
 * stays, however old.
 */
export class EventLog extends Store {
  readonly #maxKept: number
  readonly #notifications: Notifications
  /** Emits a tenant's id when it may have a new event. */
  readonly #waiting = new EventEmitter().setMaxListeners(0)
  readonly #arrivals = new Map<string, number>()
  /** Number of times that events of unknown tenants may have arrived. */
  #missed = 0
  /** Reads in progress, by their parameters. */
  readonly #reading = new Map<string, Promise<StoredEvent[]>>()

  constructor(db: Kysely<Schema>, options: { maxKept?: number; notifications?: Notifications } = {}) {
    super(db)
    this.#maxKept = options.maxKept ?? maxKept
    this.#notifications = options.notifications ?? new Notifications()
    this.#notifications.listen('event', (tenantId) => {
      if (tenantId === undefined) this.#arriveAnywhere()
      else this.wake(tenantId)
    })
  }

  async append(tenantId: string, events: readonly NewEvent[], now: Date): Promise<void> {
    await inTransaction(this.db, (transaction) => this.insert(transaction, tenantId, events, now), 'read committed')
  }

  /** Returns the heads up to which the events of a knowledge base are logged; undefined before {@link begin}. */
  async loggedHeads(kbId: string): Promise<LoggedHeads | undefined> {
    const row = await findRow(this.db, 'event_cursors', { kb_id: kbId })
    return row && { main: row.main ?? undefined, queue: row.queue ?? undefined }
  }

  /** Starts logging the events of a knowledge base from these heads. Has no effect if they are logged already. */
  async begin(kbId: string, { main, queue }: LoggedHeads): Promise<void> {
    await this.db
      .insertInto('event_cursors')
      .values({ kb_id: kbId, main: main ?? null, queue: queue ?? null })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }

  /**
   * Logs the events of a knowledge base between two states of its refs, and moves its cursor, in one transaction.
   * @returns false if its events are not logged up to `from`, as when another process was first
   */
  async logChanges(
    kb: Whose,
    from: LoggedHeads,
    to: LoggedHeads,
    events: readonly NewEvent[],
    now: Date,
  ): Promise<boolean> {
    const log = async (transaction: Transaction<Schema>) => {
      const known = { kb_id: kb.id, main: from.main ?? null, queue: from.queue ?? null }
      const next = { main: to.main ?? null, queue: to.queue ?? null }
      if ((await updateRows(transaction, 'event_cursors', known, next)) === 0) return false
      await this.insert(transaction, kb.tenantId, events, now)
      return true
    }
    const isLogged = await inTransaction(this.db, log, 'read committed')
    if (!isLogged) this.wake(kb.tenantId) // another process has logged it
    return isLogged
  }

  /** Returns a tenant's events after an id, in order. Concurrent requests for the same page, as when an event wakes readers, share one read. */
  after(tenantId: string, id: number, limit: number): Promise<StoredEvent[]> {
    // A read that began before the last arrival may miss it.
    const key = [tenantId, id, limit, this.arrivals(tenantId)].join(' ')
    const known = this.#reading.get(key)
    if (known !== undefined) return known
    const reading = this.#read(tenantId, id, limit).finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  async #read(tenantId: string, id: number, limit: number): Promise<StoredEvent[]> {
    const rows = await selectRows(this.db, 'events', { tenant_id: tenantId })
      .where('id', '>', id)
      .where('kb_id', 'in', servedKbs(this.db))
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(toEvent)
  }

  /** Returns a tenant's events of some kinds before an id, of one knowledge base or of all, latest first. */
  async before(tenantId: string, options: PastEvents): Promise<StoredEvent[]> {
    const { before, kbId, kinds, isCurator, limit } = options
    // An index gives the latest events of one kind. A single query for all kinds would read every event in between.
    const ofKind = (kind: EventKind) =>
      this.db
        .selectFrom('events')
        .select('id')
        .where('tenant_id', '=', tenantId)
        .where('kind', '=', kind)
        .where('id', '<', before)
        .where('kb_id', 'in', servedKbs(this.db))
        .$if(kbId !== undefined, (query) => query.where('kb_id', '=', kbId ?? ''))
        .$if(!isCurator, (query) => query.where('curator_only', '=', 0))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
    const ids = (await Promise.all(kinds.map(ofKind))).flat().map(({ id }) => id)
    if (ids.length === 0) return []
    const rows = await selectRows(this.db, 'events', { tenant_id: tenantId })
      .where('id', 'in', ids.sort((a, b) => b - a).slice(0, limit))
      .orderBy('id', 'desc')
      .execute()
    return rows.map(toEvent)
  }

  /** Returns the ids of a tenant's first and last stored events; 1 and 0 if it never had one. */
  async range(tenantId: string): Promise<{ first: number; last: number }> {
    return rangeOf(this.db, tenantId)
  }

  /** Returns a number that changes whenever a tenant may have a new event. */
  arrivals(tenantId: string): number {
    return (this.#arrivals.get(tenantId) ?? 0) + this.#missed
  }

  /** Resolves once {@link arrivals} of a tenant differs from `seen`, or the signal aborts. */
  async arrival(tenantId: string, seen: number, signal: AbortSignal): Promise<void> {
    if (this.arrivals(tenantId) !== seen || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    this.#waiting.once(tenantId, wake)
    signal.addEventListener('abort', wake, { once: true })
    await promise
    signal.removeEventListener('abort', wake)
    this.#waiting.off(tenantId, wake)
  }

  /** Ends every wait for an {@link arrival} of a tenant. */
  wake(tenantId: string): void {
    this.#arrivals.set(tenantId, (this.#arrivals.get(tenantId) ?? 0) + 1)
    this.#waiting.emit(tenantId)
  }

  /** Ends every wait for an arrival of a tenant, in all processes. */
  async wakeAll(tenantId: string): Promise<void> {
    await this.#notifications.send(this.db, 'event', tenantId)
  }

  #arriveAnywhere(): void {
    this.#missed += 1
    for (const tenantId of this.#waiting.eventNames()) this.#waiting.emit(tenantId)
  }

  /** Removes events older than some days. Returns their number. */
  async sweep(now: Date, days = 7): Promise<number> {
    const expiry = daysBefore(now, days)
    let removed = 0
    for (const { id } of await this.db.selectFrom('tenants').select('id').execute()) {
      const { first, last } = await rangeOf(this.db, id)
      const kept = await this.db
        .selectFrom('events')
        .select('id')
        .where('tenant_id', '=', id)
        .where('at', '>', expiry)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      const end = kept?.id ?? last
      for (let from = first; from < end; from += sweptAtOnce) {
        removed += await removeBefore(this.db, id, Math.min(end, from + sweptAtOnce))
      }
    }
    return removed
  }

  /** Appends events in a transaction, which may contain other writes. Its commit wakes readers. */
  async insert(db: Transaction<Schema>, tenantId: string, events: readonly NewEvent[], now: Date): Promise<void> {
    if (events.length === 0) return
    const last = await takeIds(db, tenantId, events.length)
    const at = now.toISOString()
    const rows = events.map(({ kbId, kind, isCuratorOnly, data, candidate }, index) => ({
      ...{ tenant_id: tenantId, id: last - events.length + 1 + index, kb_id: kbId, kind, at },
      curator_only: Number(isCuratorOnly),
      data: JSON.stringify(data),
      candidate: candidate === undefined ? null : JSON.stringify(candidate),
    }))
    for (let start = 0; start < rows.length; start += rowsAtOnce) {
      await db
        .insertInto('events')
        .values(rows.slice(start, start + rowsAtOnce))
        .execute()
    }
    await this.#notifications.send(db, 'event', tenantId)
    await removeBefore(db, tenantId, last - this.#maxKept + 1)
  }
}

function toEvent({ tenant_id: _, curator_only, data, candidate, ...row }: RowOf<'events'>): StoredEvent {
  return {
    ...camelCase(row),
    isCuratorOnly: curator_only === 1,
    data: EventData.parse(JSON.parse(data)),
    ...(candidate === null ? {} : { candidate: EventCandidate.parse(JSON.parse(candidate)) }),
  }
}

async function rangeOf(db: Kysely<Schema>, tenantId: string): Promise<{ first: number; last: number }> {
  const end = (order: 'asc' | 'desc') =>
    db.selectFrom('events').select('id').where('tenant_id', '=', tenantId).orderBy('id', order).limit(1)
  const [first, last] = [await end('asc').executeTakeFirst(), await end('desc').executeTakeFirst()]
  return { first: first?.id ?? 1, last: last?.id ?? 0 }
}

/**
 * Takes the next ids of a tenant and returns the last of them. The tenant's row stays locked until the end of the transaction, so that
 * ids have no gaps, and a reader who sees one event sees all before it.
 */
async function takeIds(db: Transaction<Schema>, tenantId: string, count: number): Promise<number> {
  const { last } = await db
    .insertInto('event_counters')
    .values({ tenant_id: tenantId, last: count })
    .onConflict((conflict) =>
      conflict.column('tenant_id').doUpdateSet(({ eb, ref }) => ({ last: eb(ref('event_counters.last'), '+', count) })),
    )
    .returning('last')
    .executeTakeFirstOrThrow()
  return last
}

function removeBefore(db: Kysely<Schema>, tenantId: string, id: number): Promise<number> {
  return changedRows(db.deleteFrom('events').where('tenant_id', '=', tenantId).where('id', '<', id))
}
