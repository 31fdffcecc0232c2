import type { Kysely, Transaction } from 'kysely'
import type { Schema } from './schema.ts'
import { inTransaction } from './transaction.ts'

/** Whose `Idempotency-Key` it is. */
export type IdempotencyKey = { tenantId: string; callerId: string; idempotencyKey: string }

export type IdempotentRequest = IdempotencyKey & {
  /** Method and path. */
  route: string
  bodyHash: string
  /** Id for what the request creates, should this be its first attempt. */
  subjectId: string
}

export type Attempt =
  /** Do the work, creating `subjectId`. */
  | { state: 'new'; subjectId: string }
  /** Done before: give this answer again. */
  | { state: 'replay'; status: number; body: unknown }
  /** An attempt broke off before its answer was known: `subjectId` may exist already. */
  | { state: 'retry'; subjectId: string }
  /** The key was used for another request. */
  | { state: 'mismatch' }

/** How long an answer is given again, in milliseconds. */
const LIFETIME = 24 * 60 * 60 * 1000

/**
 * Answers to requests that carry an `Idempotency-Key`. After `begin` said `new` or `retry`, exactly one of `finish`, `forget`
 * and `abandon` must follow: until then, further requests of the same key wait for it. That wait is in memory, since one process
 * serves a data directory.
 */
export class Idempotency {
  readonly #db: Kysely<Schema>
  readonly #running = new Map<string, PromiseWithResolvers<void>>()

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  async begin(request: IdempotentRequest, now: Date): Promise<Attempt> {
    const name = nameOf(request)
    for (let running = this.#running.get(name); running !== undefined; running = this.#running.get(name)) {
      await running.promise
    }
    this.#running.set(name, Promise.withResolvers())
    try {
      const attempt = await this.#attempt(request, now)
      if (attempt.state === 'replay' || attempt.state === 'mismatch') this.#release(request)
      return attempt
    } catch (error) {
      this.#release(request)
      throw error
    }
  }

  /** The request succeeded: from now on this is the answer. */
  async finish(key: IdempotencyKey, answer: { status: number; body: unknown }): Promise<void> {
    try {
      await this.#db
        .updateTable('idempotency_keys')
        .set({ status: answer.status, answer: JSON.stringify(answer.body) })
        .where((where) => where.and(columns(key)))
        .execute()
    } finally {
      this.#release(key)
    }
  }

  /** The request failed and wrote nothing: the next one of this key is new. */
  async forget(key: IdempotencyKey): Promise<void> {
    try {
      await this.#db
        .deleteFrom('idempotency_keys')
        .where((where) => where.and(columns(key)))
        .execute()
    } finally {
      this.#release(key)
    }
  }

  /** The request failed and may have written: the next one of this key is a retry. */
  abandon(key: IdempotencyKey): void {
    this.#release(key)
  }

  /** Removes what has expired; answers how many entries. */
  async sweep(now: Date): Promise<number> {
    const result = await this.#db
      .deleteFrom('idempotency_keys')
      .where('created_at', '<=', expiry(now))
      .executeTakeFirst()
    return Number(result.numDeletedRows)
  }

  async #attempt(request: IdempotentRequest, now: Date): Promise<Attempt> {
    const fresh = {
      route: request.route,
      body_hash: request.bodyHash,
      subject_id: request.subjectId,
      status: null,
      answer: null,
      created_at: now.toISOString(),
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
      if (inserted !== undefined) return undefined
      return transaction
        .selectFrom('idempotency_keys')
        .selectAll()
        .where((where) => where.and(columns(request)))
        .executeTakeFirstOrThrow()
    }
    const row = await inTransaction(this.#db, attempt, 'read committed')
    if (row === undefined) return { state: 'new', subjectId: request.subjectId }
    if (row.route !== request.route || row.body_hash !== request.bodyHash) return { state: 'mismatch' }
    if (row.status === null || row.answer === null) return { state: 'retry', subjectId: row.subject_id }
    return { state: 'replay', status: row.status, body: JSON.parse(row.answer) }
  }

  #release(key: IdempotencyKey): void {
    const name = nameOf(key)
    this.#running.get(name)?.resolve()
    this.#running.delete(name)
  }
}

function columns(key: IdempotencyKey) {
  return { tenant_id: key.tenantId, caller_id: key.callerId, idempotency_key: key.idempotencyKey }
}

function nameOf(key: IdempotencyKey): string {
  return JSON.stringify([key.tenantId, key.callerId, key.idempotencyKey])
}

/** What was created then or before has expired. */
function expiry(now: Date): string {
  return new Date(now.getTime() - LIFETIME).toISOString()
}
