import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Every schema change ever released, by name; names sort in the order they apply, and a released one never changes. */
export const migrations: Record<string, Migration> = {
  '0001-tenants-and-keys': { up: createTenantsAndKeys },
  '0002-chat-sessions': { up: createChatSessions },
  '0003-events': { up: createEvents },
}

async function createTenantsAndKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('tenants')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('slug', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('knowledge_bases')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('slug', 'text', (column) => column.notNull())
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('knowledge_bases_slug', ['tenant_id', 'slug'])
    .execute()

  await db.schema
    .createTable('api_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull().check(sql`role in ('reader', 'app', 'curator')`))
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('connectors', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('revoked_at', 'text')
    .addColumn('last_used_at', 'text')
    .execute()

  await db.schema
    .createTable('idempotency_keys')
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('key_id', 'text', (column) => column.notNull().references('api_keys.id'))
    .addColumn('idempotency_key', 'text', (column) => column.notNull())
    .addColumn('route', 'text', (column) => column.notNull())
    .addColumn('body_hash', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('answer', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_pk', ['tenant_id', 'key_id', 'idempotency_key'])
    .execute()

  await db.schema.createIndex('idempotency_keys_age').on('idempotency_keys').column('created_at').execute()
}

async function createChatSessions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('chat_sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('kb_id', 'text', (column) => column.notNull().references('knowledge_bases.id'))
    .addColumn('audience', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('used_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('chat_turns')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('session_id', 'text', (column) => column.notNull().references('chat_sessions.id').onDelete('cascade'))
    .addColumn('ordinal', 'integer', (column) => column.notNull())
    .addColumn('question', 'text', (column) => column.notNull())
    .addColumn('answer', 'text', (column) => column.notNull())
    .addColumn('citations', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('chat_turns_ordinal', ['session_id', 'ordinal'])
    .execute()

  await db.schema.createIndex('chat_sessions_age').on('chat_sessions').column('used_at').execute()
}

async function createEvents(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('events')
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('id', 'integer', (column) => column.notNull())
    .addColumn('kb_id', 'text', (column) => column.notNull().references('knowledge_bases.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('curator_only', 'integer', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('events_pk', ['tenant_id', 'id'])
    .modifyEnd(sql`without rowid`)
    .execute()

  await db.schema
    .createTable('event_cursors')
    .addColumn('kb_id', 'text', (column) => column.primaryKey().references('knowledge_bases.id'))
    .addColumn('main', 'text')
    .addColumn('queue', 'text')
    .execute()
}
