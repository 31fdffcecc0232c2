import type { DeleteResult, Kysely, UpdateResult } from 'kysely'
import type { Schema } from './schema.ts'

/** Reads and writes tables of the state, on its own or within a transaction. */
export abstract class Store {
  protected readonly db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.db = db
  }
}

/** Executes a change. @returns the number of rows that were deleted or updated */
export async function changedRows(change: {
  executeTakeFirst(): Promise<DeleteResult | UpdateResult>
}): Promise<number> {
  const result = await change.executeTakeFirst()
  return Number('numDeletedRows' in result ? result.numDeletedRows : result.numUpdatedRows)
}
