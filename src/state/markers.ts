import type { Schema } from './database/schema.ts'
import { deleteRows, findRow, Store } from './database/store.ts'

type Name = Schema['stamps']['name']

/** Times of the last backup, restore or erasure in this data directory: ISO 8601, UTC. */
export class Markers extends Store {
  async set(name: Name, at: string): Promise<void> {
    await this.db
      .insertInto('stamps')
      .values({ name, at })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ at }))
      .execute()
  }

  async find(name: Name): Promise<string | undefined> {
    return (await findRow(this.db, 'stamps', { name }))?.at
  }

  async forget(name: Name): Promise<void> {
    await deleteRows(this.db, 'stamps', { name })
  }
}
