import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { ConnectionLost } from './database-errors.ts'
import { isSerializationFailure, isUniqueViolation } from './postgres-errors.ts'
import type { Schema } from './schema.ts'
import { isPostgres } from './store.ts'

/** Isolation of a transaction on PostgreSQL; see "Transaction Isolation" in its documentation. */
export type Isolation = 'serializable' | 'read committed'

const maxAttempts = 10
/** Maximum attempts after a unique violation: another transaction may have inserted the row after the check. */
const maxRaces = 3
/** Maximum milliseconds before the second attempt, doubled before each further one. */
const firstPause = 10
const longestPause = 500

/**
 * Runs work in a transaction, which is rolled back if the work throws. On SQLite one transaction runs at a time. On PostgreSQL
 * they run concurrently and are serializable. A transaction that fails to serialize, or loses its connection before the commit,
 * is retried, so the work may only read and write through its transaction. `read committed` is for work that first writes, or
 * locks, a row that all of its kind need: they wait for each other there, and each sees the commits before it.
 */
export async function inTransaction<Result>(
  db: Kysely<Schema>,
  work: (transaction: Transaction<Schema>) => Promise<Result>,
  isolation: Isolation = 'serializable',
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const acts: (() => void)[] = []
    let isCommitting = false
    try {
      const begin = db.transaction()
      const result = await (isPostgres(db) ? begin.setIsolationLevel(isolation) : begin).execute(
        async (transaction) => {
          afterCommits.set(transaction, acts)
          const result = await work(transaction)
          isCommitting = true
          return result
        },
      )
      for (const act of acts) act()
      return result
    } catch (error) {
      // A commit without a response may have happened.
      const isUndone = isSerializationFailure(error) || (error instanceof ConnectionLost && !isCommitting)
      const isRaced = isolation === 'serializable' && isUniqueViolation(error) && attempt < maxRaces
      if (!(isUndone || isRaced) || attempt === maxAttempts) throw error
      await delay(Math.random() * Math.min(longestPause, firstPause * 2 ** (attempt - 1)))
    }
  }
}

/** Runs work in the open transaction, or in a new one if there is none. */
export function inOpenTransaction<Result>(
  db: Kysely<Schema> | Transaction<Schema>,
  work: (transaction: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? work(db as Transaction<Schema>) : inTransaction(db, work, 'read committed')
}

/** Actions to run after the commit of a transaction. */
const afterCommits = new WeakMap<Kysely<Schema>, (() => void)[]>()

/** Runs an action after the commit, and not after a rollback; at once without a transaction. */
export function afterCommit(db: Kysely<Schema> | Transaction<Schema>, act: () => void): void {
  const acts = afterCommits.get(db)
  if (acts === undefined) act()
  else acts.push(act)
}

/**
 * Locks a row until the transaction ends: others that lock it wait. On SQLite transactions never run concurrently. Inserting a
 * reference to the row does not wait.
 */
export async function lockRow(
  transaction: Transaction<Schema>,
  table: 'tenants' | 'knowledge_bases' | 'sources',
  id: string,
): Promise<void> {
  if (!isPostgres(transaction)) return
  await transaction.selectFrom(table).select('id').where('id', '=', id).forNoKeyUpdate().execute()
}

/** True if a row exists. Then nobody can remove it before the end of the transaction. */
export async function holdRow(transaction: Transaction<Schema>, table: 'webhooks', id: string): Promise<boolean> {
  const row = await transaction
    .selectFrom(table)
    .select('id')
    .where('id', '=', id)
    .$if(isPostgres(transaction), (query) => query.forKeyShare())
    .executeTakeFirst()
  return row !== undefined
}
