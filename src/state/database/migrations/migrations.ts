import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { isPostgres } from '../is-postgres.ts'
import { createAdministration } from './administration-migration.ts'
import { createForges } from './forge-migration.ts'
import { createPeople } from './people-migration.ts'
import { createRepositories } from './repositories-migration.ts'
import { createBlobKeys, createUploadChunks } from './source-bytes-migration.ts'
import { withoutRowid } from './without-rowid.ts'

/** Every schema change ever released, by name; names sort in the order they apply, and a released one never changes. */
export const migrations: Record<string, Migration> = {
  '0001-tenants-and-keys': { up: createTenantsAndKeys },
  '0002-chat-sessions': { up: createChatSessions },
  '0003-events': { up: createEvents },
  '0004-sources': { up: createSources },
  '0005-jobs': { up: createJobs },
  '0006-webhooks': { up: createWebhooks },
  '0007-uploads-that-replace': { up: addToUploads },
  '0008-candidates-of-events': { up: addToEvents },
  '0010-owners-of-uploads-and-chats': { up: addOwners },
  '0011-idempotency-of-callers': { up: nameCallersOfIdempotency },
  '0012-people': { up: createPeople },
  '0013-administration': { up: createAdministration },
  '0014-grounds-of-answers': { up: addGrounds },
  '0015-forges': { up: createForges },
  '0016-event-counters': { up: createEventCounters },
  '0017-repositories': { up: createRepositories },
  '0018-leases-of-idempotency': { up: addLeases },
  '0019-rates': { up: createRates },
  '0020-keys-of-blobs': { up: createBlobKeys },
  '0021-chunks-of-uploads': { up: createUploadChunks },
  '0022-git-of-keys': { up: addGitToKeys },
  '0023-branches-of-forges': { up: addBranches },
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
    .modifyEnd(withoutRowid(db))
    .execute()

  await db.schema
    .createTable('event_cursors')
    .addColumn('kb_id', 'text', (column) => column.primaryKey().references('knowledge_bases.id'))
    .addColumn('main', 'text')
    .addColumn('queue', 'text')
    .execute()
}

async function createSources(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sources')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('kb_id', 'text', (column) => column.notNull().references('knowledge_bases.id'))
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('file_type', 'text', (column) => column.notNull())
    .addColumn('file_size', 'integer', (column) => column.notNull())
    .addColumn('content_hash', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('error_message', 'text')
    .addColumn('tags', 'text')
    .addColumn('connector', 'text', (column) => column.notNull())
    .addColumn('source_url', 'text')
    .addColumn('metadata', 'text')
    .addColumn('uploader_id', 'text', (column) => column.notNull())
    .addColumn('uploader_name', 'text', (column) => column.notNull())
    .addColumn('is_forced', 'integer', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('extracted_at', 'text')
    .addColumn('archived_at', 'text')
    .addColumn('edition_of', 'text', (column) => column.notNull())
    .addColumn('warnings', 'text', (column) => column.notNull().defaultTo('[]'))
    .addUniqueConstraint('sources_seq', ['kb_id', 'seq'])
    .execute()
  await db.schema.createIndex('sources_editions').on('sources').columns(['edition_of', 'seq']).execute()
  await db.schema.createIndex('sources_place').on('sources').columns(['kb_id', 'path', 'filename']).execute()
  await db.schema.createIndex('sources_bytes').on('sources').columns(['content_hash', 'kb_id']).execute()
  await db.schema
    .createIndex('sources_duplicates')
    .unique()
    .on('sources')
    .columns(['kb_id', 'content_hash'])
    .where(sql<SqlBool>`archived_at is null and is_forced = 0`)
    .execute()

  await db.schema
    .createTable('uploads')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('kb_id', 'text', (column) => column.notNull().references('knowledge_bases.id'))
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('metadata', 'text')
    .addColumn('file_size', 'integer', (column) => column.notNull())
    .addColumn('content_hash', 'text')
    .addColumn('is_forced', 'integer', (column) => column.notNull())
    .addColumn('bytes_received', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('finalized_at', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('uploads_tenant').on('uploads').columns(['tenant_id', 'created_at']).execute()
}

async function createJobs(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('jobs')
    .addColumn('document_id', 'text', (column) => column.primaryKey())
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('kb_id', 'text', (column) => column.notNull().references('knowledge_bases.id'))
    .addColumn('turn', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'text', (column) => column.notNull())
    .addColumn('starts', 'integer', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('owner', 'text')
    .addColumn('leased_until', 'text')
    .execute()

  await db.schema.createIndex('jobs_turn').on('jobs').columns(['turn', 'document_id']).execute()
  await db.schema.createIndex('jobs_kb').on('jobs').columns(['kb_id', 'turn']).execute()
  await db.schema.createIndex('jobs_new').on('jobs').columns(['starts', 'turn']).execute()
  await db.schema.createIndex('jobs_owner').on('jobs').column('owner').execute()
}

async function createWebhooks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('webhooks')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('kb_id', 'text', (column) => column.references('knowledge_bases.id'))
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('secret', 'text', (column) => column.notNull())
    .addColumn('kinds', 'text', (column) => column.notNull())
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .addColumn('note', 'text')
    .addColumn('cursor', 'integer', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('failing_since', 'text')
    .addColumn('due_at', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
}

async function addToUploads(db: Kysely<unknown>): Promise<void> {
  const uploads = db.schema.alterTable('uploads')
  await uploads.addColumn('replaces', 'integer', (column) => column.notNull().defaultTo(0)).execute()
  await uploads.addColumn('received_at', 'text').execute()
}

async function addToEvents(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('events').addColumn('candidate', 'text').execute()
}

/** Who began them: nobody is known of those that were there. */
async function addOwners(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('uploads').addColumn('uploader_id', 'text').execute()
  await db.schema.alterTable('chat_sessions').addColumn('owner_id', 'text').execute()
  await db.schema
    .createIndex('chat_sessions_owner')
    .on('chat_sessions')
    .columns(['owner_id', 'kb_id', 'used_at'])
    .execute()
}

/** Idempotency keys belong to people, too. SQLite drops a reference only with its table. */
async function nameCallersOfIdempotency(db: Kysely<unknown>): Promise<void> {
  await sql`alter table idempotency_keys rename to idempotency_keys_of_api_keys`.execute(db)
  await sql`drop index idempotency_keys_age`.execute(db)
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('tenant_id', 'text', (column) => column.notNull().references('tenants.id'))
    .addColumn('caller_id', 'text', (column) => column.notNull())
    .addColumn('idempotency_key', 'text', (column) => column.notNull())
    .addColumn('route', 'text', (column) => column.notNull())
    .addColumn('body_hash', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('answer', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_of_callers_pk', ['tenant_id', 'caller_id', 'idempotency_key'])
    .execute()
  await sql`insert into idempotency_keys
    select tenant_id, 'key:' || key_id, idempotency_key, route, body_hash, subject_id, status, answer, created_at
    from idempotency_keys_of_api_keys`.execute(db)
  await sql`drop table idempotency_keys_of_api_keys`.execute(db)
  await db.schema.createIndex('idempotency_keys_age').on('idempotency_keys').column('created_at').execute()
}

/** Of answers that were there only the citations are known. */
async function addGrounds(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('chat_turns').addColumn('grounds', 'text').execute()
}

/** The id of each tenant's last event. */
async function createEventCounters(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('event_counters')
    .addColumn('tenant_id', 'text', (column) => column.primaryKey().references('tenants.id'))
    .addColumn('last', 'integer', (column) => column.notNull())
    .execute()
  await sql`insert into event_counters select tenant_id, max(id) from events group by tenant_id`.execute(db)
}

/** Which requests are being answered by a process: on PostgreSQL there may be several. */
async function addLeases(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('idempotency_keys').addColumn('leased_until', 'text').execute()
}

/** How often something was done: a process that is alone counts in memory. */
async function createRates(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('rate_uses')
    .modifyFront(isPostgres(db) ? sql`unlogged` : sql``)
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('points', 'integer', (column) => column.notNull())
    .addColumn('ends_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('rate_uses_age').on('rate_uses').column('ends_at').execute()
}

/** Keys that are there keep what they could fetch. */
async function addGitToKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('api_keys')
    .addColumn('git', 'text', (column) => column.notNull().defaultTo('none'))
    .execute()
  await sql`update api_keys set git = 'main' where role <> 'curator'`.execute(db)
}

async function addBranches(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('forge_links')
    .addColumn('branch', 'text', (column) => column.notNull().defaultTo('main'))
    .execute()
}
