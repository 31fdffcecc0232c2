import type { Kysely } from 'kysely'

/** Where a bucket has the bytes of Sources. Those that were put before have keys that are made of their hashes alone. */
export async function createBlobKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('blob_keys')
    .addColumn('sha256', 'text', (column) => column.primaryKey())
    .addColumn('key', 'text', (column) => column.notNull().unique())
    .execute()
}
