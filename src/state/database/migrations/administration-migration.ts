import { type Kysely, type SqlBool, sql } from 'kysely'

/** Who made an API key, what became of each message of a webhook, and when a backup was made last. */
export async function createAdministration(db: Kysely<unknown>): Promise<void> {
  const keys = db.schema.alterTable('api_keys')
  await keys.addColumn('created_by', 'text').execute()
  await db.schema
    .createTable('webhook_deliveries')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('webhook_id', 'text', (column) => column.notNull().references('webhooks.id').onDelete('cascade'))
    .addColumn('event_id', 'integer')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('note', 'text')
    .addColumn('duration', 'integer', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('webhook_deliveries_order')
    .on('webhook_deliveries')
    .columns(['webhook_id', 'id'])
    .execute()
  await db.schema
    .createIndex('sources_failed')
    .on('sources')
    .columns(['tenant_id', 'kb_id'])
    .where(sql<SqlBool>`status = 'failed' and archived_at is null`)
    .execute()
  await db.schema
    .createTable('stamps')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('tour_marks')
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('mark', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('tour_marks_pk', ['user_id', 'tenant_id', 'mark'])
    .execute()
}
