import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { isPostgres } from './engines/is-postgres.ts'
import { isSerializationFailure, isUniqueViolation } from './engines/postgres-errors.ts'
import { ConnectionLost } from './errors.ts'
import type { Schema } from './schema.ts'

/** How a transaction stands to those beside it on PostgreSQL; see its own "Transaction Isolation". */
export type Isolation = 'serializable' | 'read committed'

const maxAttempts = 10
/** Attempts where a row is there already: another transaction may have made it after it was looked for. */
const maxRaces = 3
/** Milliseconds before the second attempt, at most; twice as long before each one after it. */
const firstPause = 10
const longestPause = 500

/**
 * Runs work in a transaction: all that it writes, or, where it throws, nothing. On SQLite one runs at a time. On PostgreSQL they
 * run beside each other as if one did; one that lost against others, or its connection before the commit, is rolled back and run
 * again. So the work must do nothing but read and write through its transaction.
 *
 * `read committed` is for work that first writes, or locks, a row for which all of its kind contend: they wait for each other there,
 * and each sees what the one before it committed.
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
export function within<Result>(
  db: Kysely<Schema> | Transaction<Schema>,
  work: (transaction: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? work(db as Transaction<Schema>) : inTransaction(db, work, 'read committed')
}

/** What is to be done once the transaction is committed. By the transaction. */
const afterCommits = new WeakMap<Kysely<Schema>, (() => void)[]>()

/** Acts once the transaction is committed, and never where it is rolled back; at once without a transaction. */
export function afterCommit(db: Kysely<Schema> | Transaction<Schema>, act: () => void): void {
  const acts = afterCommits.get(db)
  if (acts === undefined) act()
  else acts.push(act)
}

/**
 * Locks a row until the transaction is over: others that lock it wait. On SQLite all transactions wait for each other anyway.
 * Whoever refers to the row does not wait.
 */
export async function lockRow(
  transaction: Transaction<Schema>,
  table: 'tenants' | 'knowledge_bases',
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
