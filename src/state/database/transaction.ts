import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { ConnectionLost } from './database-errors.ts'
import { isSerializationFailure, isUniqueViolation } from './postgres-errors.ts'
import type { Schema } from './schema.ts'
import { isPostgres } from './store.ts'

/** Isolation of a transaction on PostgreSQL; see "Transaction Isolation" in its documentation. */
export type Isolation = 'serializable' | 'read committed'

const maxAttempts = 10
/** Maximum attempts if a row exists already: another transaction may have inserted it after the check. */
const maxRaces = 3
/** Milliseconds before the second attempt, at most; twice as long before each one after it. */
const firstPause = 10
const longestPause = 500

/**
 * Runs work in a transaction, which is rolled back if the work throws. On SQLite one transaction runs at a time. On PostgreSQL
 * they run concurrently and are serialisable; one that fails to serialise, or loses its connection before the commit, is retried.
 * So the work may only read and write through its transaction. `read committed` is for work that first writes, or locks, a row
 * for which all of its kind contend: they wait for each other there, and each sees what the one before it committed.
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
      // A commit whose answer was lost may have happened.
      const isUndone = isSerializationFailure(error) || (error instanceof ConnectionLost && !isCommitting)
      const isRaced = isolation === 'serializable' && isUniqueViolation(error) && attempt < maxRaces
      if (!(isUndone || isRaced) || attempt === maxAttempts) throw error
      await delay(Math.random() * Math.min(longestPause, firstPause * 2 ** (attempt - 1)))
    }
  }
}

/** Runs work that writes in the transaction that is open already, or in one of its own. */
export function inOpenTransaction<Result>(
  db: Kysely<Schema> | Transaction<Schema>,
  work: (transaction: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? work(db as Transaction<Schema>) : inTransaction(db, work, 'read committed')
}

/** Actions to run after the commit of a transaction. */
const afterCommits = new WeakMap<Kysely<Schema>, (() => void)[]>()

/** Runs an action once the transaction is committed, and not if it is rolled back; at once without a transaction. */
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

/** Whether a row is there; if so, nobody removes it before the transaction is over. */
export async function holdRow(transaction: Transaction<Schema>, table: 'webhooks', id: string): Promise<boolean> {
  const row = await transaction
    .selectFrom(table)
    .select('id')
    .where('id', '=', id)
    .$if(isPostgres(transaction), (query) => query.forKeyShare())
    .executeTakeFirst()
  return row !== undefined
}
