import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** Reads and writes tables of the state, on its own or within a transaction. */
export abstract class Store {
  protected readonly db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.db = db
  }
}
