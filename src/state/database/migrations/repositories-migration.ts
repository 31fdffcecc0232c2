import type { Kysely } from 'kysely'

/** Where the refs of repositories point, and which packs hold their objects, for several machines that share them. */
export async function createRepositories(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('repositories')
    .addColumn('kb_id', 'text', (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('repository_refs')
    .addColumn('kb_id', 'text', (column) => column.notNull().references('repositories.kb_id'))
    .addColumn('ref', 'text', (column) => column.notNull())
    .addColumn('oid', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('repository_refs_pk', ['kb_id', 'ref'])
    .execute()

  await db.schema
    .createTable('repository_packs')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('kb_id', 'text', (column) => column.notNull().references('repositories.kb_id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('replaced_at', 'text')
    .execute()
  await db.schema.createIndex('repository_packs_kb').on('repository_packs').columns(['kb_id', 'replaced_at']).execute()
  await db.schema.createIndex('repository_packs_replaced').on('repository_packs').column('replaced_at').execute()
}
