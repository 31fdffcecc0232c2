import type { Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { Store } from '../database/store.ts'

/** Under which keys a bucket has the blobs that are named. */
export class BlobKeys extends Store {
  async find(sha256: string): Promise<string | undefined> {
    const query = this.db.selectFrom('blob_keys').select('key').where('sha256', '=', sha256)
    return (await query.executeTakeFirst())?.key
  }

  /** Notes the key of a blob. If the same bytes have several keys, the first stays: backups of the database name it, too. */
  async note(transaction: Transaction<Schema>, sha256: string, key: string): Promise<void> {
    await transaction
      .insertInto('blob_keys')
      .values({ sha256, key })
      .onConflict((conflict) => conflict.column('sha256').doNothing())
      .execute()
  }

  /** Returns the keys that are noted. */
  async noted(keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.selectFrom('blob_keys').select('key').where('key', 'in', keys).execute()
    return new Set(rows.map(({ key }) => key))
  }
}
