import type { Kysely } from 'kysely'

/** Knowledge bases that are linked to repositories on forges, and the pull requests there. */
export async function createForges(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('forge_links')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('kb_id', 'text', (column) => column.notNull().references('knowledge_bases.id').unique())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('api_url', 'text')
    .addColumn('credential', 'text', (column) => column.notNull())
    .addColumn('webhook_secret', 'text')
    .addColumn('max_open', 'integer', (column) => column.notNull())
    .addColumn('main', 'text')
    .addColumn('heard_at', 'text', (column) => column.notNull())
    .addColumn('synced_at', 'text')
    .addColumn('failing_since', 'text')
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('note', 'text')
    .addColumn('due_at', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('forge_pulls')
    .addColumn('link_id', 'text', (column) => column.notNull().references('forge_links.id').onDelete('cascade'))
    .addColumn('branch', 'text', (column) => column.notNull())
    .addColumn('number', 'integer')
    .addColumn('candidates', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('head', 'text')
    .addColumn('change', 'text')
    .addColumn('seen', 'text')
    .addColumn('text', 'text')
    .addColumn('reported', 'text')
    .addColumn('comments', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('forge_pulls_pk', ['link_id', 'branch'])
    .execute()
}
