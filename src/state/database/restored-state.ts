import type { Kysely, Transaction } from 'kysely'
import type { Schema } from './schema.ts'
import { isVacant } from './state-tables.ts'
import { deleteRows, findRow, updateRows } from './store.ts'
import { inTransaction } from './transaction.ts'

/** The database is not empty: a restore would mix its rows with those of the backup. */
class DatabaseNotVacant extends Error {
  constructor() {
    super('The database is not empty: restore into a new one.')
  }
}

/**
 * Returns the mark of a restore into the database that has begun and not ended; undefined if there is none.
 * @throws {DatabaseNotVacant}
 */
export async function unfinishedRestore(db: Kysely<Schema>): Promise<string | undefined> {
  if (!(await isVacant(db))) throw new DatabaseNotVacant()
  return (await findRow(db, 'stamps', { name: 'restore' }))?.at
}

/** Notes that a restore has begun, so that no server uses the database before its end. @throws {DatabaseNotVacant} */
export async function beginRestore(db: Kysely<Schema>, mark: string): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const known = await unfinishedRestore(transaction)
    if (known === undefined) await transaction.insertInto('stamps').values({ name: 'restore', at: mark }).execute()
  })
}

class Rehearsed extends Error {}

/**
 * Checks that the database accepts all rows of a restore: inserts them and rolls back.
 * @param load inserts them
 * @throws {DatabaseNotVacant} and what the database throws for a row that it rejects
 */
export async function rehearseRestore(
  db: Kysely<Schema>,
  load: (transaction: Transaction<Schema>) => Promise<void>,
): Promise<void> {
  const rehearse = async (transaction: Transaction<Schema>) => {
    await unfinishedRestore(transaction)
    await load(transaction)
    throw new Rehearsed()
  }
  await inTransaction(db, rehearse).catch((error: unknown) => {
    if (!(error instanceof Rehearsed)) throw error
  })
}

/** Ends a restore: inserts all of its rows in one transaction. @param load inserts them @throws {DatabaseNotVacant} */
export async function finishRestore(
  db: Kysely<Schema>,
  load: (transaction: Transaction<Schema>) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (transaction) => {
    await unfinishedRestore(transaction)
    await deleteRows(transaction, 'stamps', { name: 'restore' })
    await load(transaction)
  })
}

/** Removes from a copy of the state what belonged to its processes and stores: leases, and the places of bytes. */
export async function forgetOrigin(db: Kysely<Schema>): Promise<void> {
  await updateRows(db, 'jobs', {}, { owner: null, leased_until: null })
  await updateRows(db, 'idempotency_keys', {}, { leased_until: null })
  await deleteRows(db, 'blob_keys', {})
  await deleteRows(db, 'upload_chunks', {})
  await updateRows(db, 'uploads', { finalized_at: null }, { bytes_received: 0, received_at: null })
}
