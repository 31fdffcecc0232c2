import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { timeAfter } from './database/row-values.ts'
import type { Schema } from './database/schema.ts'
import { changedRows, deleteRows, findRow, isPostgres, Store, updateRows } from './database/store.ts'
import { inTransaction } from './database/transaction.ts'

/** Identity of a request that carries an `Idempotency-Key`. */
export type IdempotencyKey = { tenantId: string; callerId: string; idempotencyKey: string }

export type IdempotentRequest = IdempotencyKey & {
  /** Method and path of the request. */
  route: string
  bodyHash: string
  /** Id for the object that the request creates, if this is its first attempt. */
  subjectId: string
}

export type Attempt =
  /** First attempt: do the work, and create `subjectId`. */
  | { state: 'new'; subjectId: string }
  /** Completed before: return this answer. */
  | { state: 'replay'; status: number; body: unknown }
  /** An earlier attempt ended without a known answer: `subjectId` may exist already. */
  | { state: 'retry'; subjectId: string }
  /** The key was used for another request. */
  | { state: 'mismatch' }

/** Milliseconds for which a stored answer is replayed. */
const LIFETIME = 24 * 60 * 60 * 1000

/** Milliseconds: duration of the lease on a request in progress, and interval between two extensions. */
const leaseMs = 30_000
const heartbeatMs = 10_000
/** Milliseconds between two checks of a request that runs in another process: first and maximum. */
const firstPauseMs = 20
const longestPauseMs = 500

/**
 * Answers to requests that carry an `Idempotency-Key`. After `begin` returned `new` or `retry`, exactly one of `finish`, `forget`
 * and `abandon` must follow. Until then, further requests with the key wait for it. Those of the same process wait in memory. On
 * PostgreSQL a request also holds a lease, which other processes check, and which expires soon after its process has ended.
 */
export class Idempotency extends Store {
  readonly #now: () => Date
  readonly #running = new Map<string, PromiseWithResolvers<void>>()
  /** Requests of this process that hold a lease, by name. */
  readonly #leased = new Map<string, IdempotencyKey>()
  #heartbeat: NodeJS.Timeout | undefined

  constructor(db: Kysely<Schema>, now = () => new Date()) {
    super(db)
    this.#now = now
  }

  async begin(request: IdempotentRequest, now: Date): Promise<Attempt> {
    const name = nameOf(request)
    for (let running = this.#running.get(name); running !== undefined; running = this.#running.get(name)) {
      await running.promise
    }
    this.#running.set(name, Promise.withResolvers())
    try {
      const attempt = await this.#attemptInTurn(request, now)
      if (attempt.state === 'replay' || attempt.state === 'mismatch') this.#release(request)
      return attempt
    } catch (error) {
      this.#release(request)
      throw error
    }
  }

  /** Stores the answer of a request that succeeded. */
  async finish(key: IdempotencyKey, answer: { status: number; body: unknown }): Promise<void> {
    try {
      await this.finishWithin(this.db, key, answer)
    } finally {
      this.#release(key)
    }
  }

  /** Stores the answer of a request that succeeds if the transaction is committed; `finish` must still follow. */
  async finishWithin(
    db: Kysely<Schema>,
    key: IdempotencyKey,
    answer: { status: number; body: unknown },
  ): Promise<void> {
    const stored = { status: answer.status, answer: JSON.stringify(answer.body), leased_until: null }
    await updateRows(db, 'idempotency_keys', columns(key), stored)
  }

  /** Returns the answer of a request, if it is stored. */
  async answer(key: IdempotencyKey): Promise<{ body: unknown } | undefined> {
    const row = await findRow(this.db, 'idempotency_keys', columns(key))
    return row?.answer == null || row.status === null ? undefined : { body: JSON.parse(row.answer) }
  }

  /** Releases the key of a request that failed and wrote nothing: the next request with it is new. A stored answer stays. */
  async forget(key: IdempotencyKey): Promise<void> {
    try {
      await deleteRows(this.db, 'idempotency_keys', { ...columns(key), status: null })
    } finally {
      this.#release(key)
    }
  }

  /** Releases the key of a request that failed and may have written: the next request with it is a retry. */
  async abandon(key: IdempotencyKey): Promise<void> {
    try {
      if (this.#leased.has(nameOf(key))) await this.#lease(key, null)
    } finally {
      this.#release(key)
    }
  }

  /** Removes expired entries. Returns their number. */
  async sweep(now: Date): Promise<number> {
    return changedRows(this.db.deleteFrom('idempotency_keys').where('created_at', '<=', expiry(now)))
  }

  /** Waits while the request runs in another process. */
  async #attemptInTurn(request: IdempotentRequest, now: Date): Promise<Attempt> {
    const began = performance.now()
    // The first attempt uses the caller's time: an entry that is about to expire must not do so on the way.
    let time = now
    for (let pause = firstPauseMs; ; pause = Math.min(longestPauseMs, 2 * pause)) {
      const attempt = await this.#attempt(request, time)
      if (attempt !== 'elsewhere') return attempt
      await delay(pause)
      time = new Date(now.getTime() + performance.now() - began)
    }
  }

  async #attempt(request: IdempotentRequest, now: Date): Promise<Attempt | 'elsewhere'> {
    const isLeased = isPostgres(this.db)
    const leased_until = isLeased ? timeAfter(now, leaseMs) : null
    const fresh = {
      ...{ leased_until, route: request.route, body_hash: request.bodyHash, subject_id: request.subjectId },
      ...{ status: null, answer: null, created_at: now.toISOString() },
    }
    const attempt = async (transaction: Transaction<Schema>) => {
      const inserted = await transaction
        .insertInto('idempotency_keys')
        .values({ ...columns(request), ...fresh })
        .onConflict((conflict) =>
          conflict
            .columns(['tenant_id', 'caller_id', 'idempotency_key'])
            .doUpdateSet(fresh)
            .where('idempotency_keys.created_at', '<=', expiry(now)),
        )
        .returning('subject_id')
        .executeTakeFirst()
      if (inserted !== undefined) return { state: 'new', subjectId: request.subjectId } as const
      // The insert that changed nothing has locked the row.
      const row = await findRow(transaction, 'idempotency_keys', columns(request))
      if (row === undefined) throw new Error('The key of a request is gone.')
      if (row.route !== request.route || row.body_hash !== request.bodyHash) return { state: 'mismatch' } as const
      if (row.status !== null && row.answer !== null) {
        return { state: 'replay', status: row.status, body: JSON.parse(row.answer) } as const
      }
      if (row.leased_until !== null && row.leased_until > now.toISOString()) return 'elsewhere'
      if (isLeased) await this.#lease(request, leased_until, transaction)
      return { state: 'retry', subjectId: row.subject_id } as const
    }
    const result = await inTransaction(this.db, attempt, 'read committed')
    if (isLeased && result !== 'elsewhere' && (result.state === 'new' || result.state === 'retry')) this.#keep(request)
    return result
  }

  async #lease(key: IdempotencyKey, leased_until: string | null, db: Kysely<Schema> = this.db): Promise<void> {
    await updateRows(db, 'idempotency_keys', { ...columns(key), status: null }, { leased_until })
  }

  /** Extends the lease of a request until it is released. If one extension fails, the next one makes up for it. */
  #keep(key: IdempotencyKey): void {
    this.#leased.set(nameOf(key), key)
    this.#heartbeat ??= setInterval(() => {
      const until = timeAfter(this.#now(), leaseMs)
      for (const leased of this.#leased.values()) this.#lease(leased, until).catch(() => {})
    }, heartbeatMs).unref()
  }

  #release(key: IdempotencyKey): void {
    const name = nameOf(key)
    this.#running.get(name)?.resolve()
    this.#running.delete(name)
    this.#leased.delete(name)
    if (this.#leased.size > 0) return
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
  }
}

function columns(key: IdempotencyKey) {
  return { tenant_id: key.tenantId, caller_id: key.callerId, idempotency_key: key.idempotencyKey }
}

function nameOf(key: IdempotencyKey): string {
  return JSON.stringify([key.tenantId, key.callerId, key.idempotencyKey])
}

/** Returns the time at or before which an expired entry was created. */
function expiry(now: Date): string {
  return timeAfter(now, -LIFETIME)
}
