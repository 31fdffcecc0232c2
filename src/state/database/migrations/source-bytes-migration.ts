import type { Kysely } from 'kysely'

/** Where a bucket has the bytes of Sources. Those that were put before have keys that are made of their hashes alone. */
export async function createBlobKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('blob_keys')
    .addColumn('sha256', 'text', (column) => column.primaryKey())
    .addColumn('key', 'text', (column) => column.notNull().unique())
    .execute()
}

/** Which objects of the store that nodes share have the bytes of uploads in chunks. On one machine they are in a file. */
export async function createUploadChunks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('upload_chunks')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('upload_id', 'text', (column) => column.notNull())
    .addColumn('start', 'integer', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addUniqueConstraint('upload_chunks_start', ['upload_id', 'start'])
    .execute()
}
