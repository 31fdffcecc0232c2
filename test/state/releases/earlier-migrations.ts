import type { Migration } from 'kysely/migration'
import { runStatements } from '../../../src/state/database/migrations/migrations.ts'

const create = (statements: string): Migration => ({ up: (db) => runStatements(db, statements) })

/** The steps by which earlier revisions made their schemas, up to the one that a new database has at once. */
export const earlierMigrations: Record<string, Migration> = {
  '0001-tenants-and-keys': create(`
create table tenants (id text primary key, slug text not null unique, created_at text not null);
create table knowledge_bases (
  id text primary key, tenant_id text not null references tenants (id), slug text not null, prefix text not null,
  created_at text not null, constraint knowledge_bases_slug unique (tenant_id, slug)
);
create table api_keys (
  id text primary key, tenant_id text not null references tenants (id), name text not null,
  role text not null check (role in ('reader', 'app', 'curator')), hash text not null unique, connectors text not null,
  created_at text not null, expires_at text, revoked_at text, last_used_at text
);
create table idempotency_keys (
  tenant_id text not null references tenants (id), key_id text not null references api_keys (id), idempotency_key text not null,
  route text not null, body_hash text not null, subject_id text not null, status integer, answer text, created_at text not null,
  constraint idempotency_keys_pk primary key (tenant_id, key_id, idempotency_key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
`),
  '0002-chat-sessions': create(`
create table chat_sessions (
  id text primary key, tenant_id text not null references tenants (id), kb_id text not null references knowledge_bases (id),
  audience text not null, created_at text not null, used_at text not null
);
create table chat_turns (
  id text primary key, session_id text not null references chat_sessions (id) on delete cascade, ordinal integer not null,
  question text not null, answer text not null, citations text not null, created_at text not null,
  constraint chat_turns_ordinal unique (session_id, ordinal)
);
create index chat_sessions_age on chat_sessions (used_at);
`),
  '0003-events': create(`
create table events (
  tenant_id text not null references tenants (id), id integer not null, kb_id text not null references knowledge_bases (id),
  kind text not null, at text not null, curator_only integer not null, data text not null,
  constraint events_pk primary key (tenant_id, id)
) without rowid;
create table event_cursors (kb_id text primary key references knowledge_bases (id), main text, queue text);
`),
  '0004-sources': create(`
create table sources (
  id text primary key, tenant_id text not null references tenants (id), kb_id text not null references knowledge_bases (id),
  seq integer not null, filename text not null, path text not null, file_type text not null, file_size integer not null,
  content_hash text not null, status text not null, error_message text, tags text, connector text not null, source_url text,
  metadata text, uploader_id text not null, uploader_name text not null, is_forced integer not null,
  attempt integer default 0 not null, created_at text not null, extracted_at text, archived_at text, edition_of text not null,
  warnings text default '[]' not null, constraint sources_seq unique (kb_id, seq)
);
create index sources_editions on sources (edition_of, seq);
create index sources_place on sources (kb_id, path, filename);
create index sources_bytes on sources (content_hash, kb_id);
create unique index sources_duplicates on sources (kb_id, content_hash) where archived_at is null and is_forced = 0;
create table uploads (
  id text primary key, tenant_id text not null references tenants (id), kb_id text not null references knowledge_bases (id),
  filename text not null, path text not null, metadata text, file_size integer not null, content_hash text,
  is_forced integer not null, bytes_received integer default 0 not null, finalized_at text, created_at text not null
);
create index uploads_tenant on uploads (tenant_id, created_at);
`),
  '0005-jobs': create(`
create table jobs (
  document_id text primary key, tenant_id text not null references tenants (id),
  kb_id text not null references knowledge_bases (id), turn integer not null, due_at text not null, starts integer not null,
  failures integer not null, owner text, leased_until text
);
create index jobs_turn on jobs (turn, document_id);
create index jobs_kb on jobs (kb_id, turn);
create index jobs_new on jobs (starts, turn);
create index jobs_owner on jobs (owner);
`),
  '0006-webhooks': create(`
create table webhooks (
  id text primary key, tenant_id text not null references tenants (id), kb_id text references knowledge_bases (id),
  url text not null, secret text not null, kinds text not null, enabled integer not null, note text, cursor integer not null,
  failures integer not null, failing_since text, due_at text, created_at text not null
);
`),
  '0007-uploads-that-replace': create(`
alter table uploads add column replaces integer default 0 not null;
alter table uploads add column received_at text;
`),
  '0008-candidates-of-events': create('alter table events add column candidate text;'),
  '0010-owners-of-uploads-and-chats': create(`
alter table uploads add column uploader_id text;
alter table chat_sessions add column owner_id text;
create index chat_sessions_owner on chat_sessions (owner_id, kb_id, used_at);
`),
  // SQLite drops a reference only with its table.
  '0011-idempotency-of-callers': create(`
alter table idempotency_keys rename to idempotency_keys_of_api_keys;
drop index idempotency_keys_age;
create table idempotency_keys (
  tenant_id text not null references tenants (id), caller_id text not null, idempotency_key text not null, route text not null,
  body_hash text not null, subject_id text not null, status integer, answer text, created_at text not null,
  constraint idempotency_keys_of_callers_pk primary key (tenant_id, caller_id, idempotency_key)
);
insert into idempotency_keys
  select tenant_id, 'key:' || key_id, idempotency_key, route, body_hash, subject_id, status, answer, created_at
  from idempotency_keys_of_api_keys;
drop table idempotency_keys_of_api_keys;
create index idempotency_keys_age on idempotency_keys (created_at);
`),
  '0012-people': create(`
create table users (
  id text primary key, email text not null unique, name text not null, password_hash text, issuer text, subject text,
  created_at text not null, disabled_at text, constraint users_identity unique (issuer, subject)
);
create table memberships (
  user_id text not null references users (id), tenant_id text not null references tenants (id),
  role text not null check (role in ('reader', 'curator', 'admin')), constraint memberships_pk primary key (user_id, tenant_id)
) without rowid;
create index memberships_tenant on memberships (tenant_id, role);
create table sessions (
  id text primary key, user_id text not null references users (id), tenant_id text not null references tenants (id),
  role text not null, hash text not null unique, previous_hash text unique, rotated_at text, form_secret text not null,
  address text not null, agent text not null, created_at text not null, used_at text not null
);
create index sessions_user on sessions (user_id);
create table one_time_links (
  hash text primary key, purpose text not null, user_id text references users (id), tenant_id text references tenants (id),
  created_at text not null, expires_at text not null
);
create table audit (
  id integer primary key autoincrement, tenant_id text not null references tenants (id), at text not null, actor_id text not null,
  actor_name text not null, action text not null, subject text not null, detail text not null, address text
);
create index audit_tenant on audit (tenant_id, id);
`),
  '0013-administration': create(`
alter table api_keys add column created_by text;
create table webhook_deliveries (
  id integer primary key autoincrement, webhook_id text not null references webhooks (id) on delete cascade, event_id integer,
  kind text not null, at text not null, status integer, note text, duration integer not null
);
create index webhook_deliveries_order on webhook_deliveries (webhook_id, id);
create index sources_failed on sources (tenant_id, kb_id) where status = 'failed' and archived_at is null;
create table stamps (name text primary key, at text not null);
create table tour_marks (
  tenant_id text not null references tenants (id), user_id text not null references users (id), mark text not null,
  constraint tour_marks_pk primary key (user_id, tenant_id, mark)
);
`),
  '0014-grounds-of-answers': create('alter table chat_turns add column grounds text;'),
  '0015-forges': create(`
create table forge_links (
  id text primary key, tenant_id text not null references tenants (id),
  kb_id text not null unique references knowledge_bases (id), kind text not null, url text not null, api_url text,
  credential text not null, webhook_secret text, max_open integer not null, main text, heard_at text not null, synced_at text,
  failing_since text, failures integer not null, note text, due_at text, created_at text not null
);
create table forge_pulls (
  link_id text not null references forge_links (id) on delete cascade, branch text not null, number integer,
  candidates text not null, state text not null, head text, change text, seen text, "text" text, reported text,
  comments integer not null, constraint forge_pulls_pk primary key (link_id, branch)
);
`),
  '0016-event-counters': create(`
create table event_counters (tenant_id text primary key references tenants (id), last integer not null);
insert into event_counters select tenant_id, max(id) from events group by tenant_id;
`),
  '0017-repositories': create(`
create table repositories (kb_id text primary key, version integer not null);
create table repository_refs (
  kb_id text not null references repositories (kb_id), ref text not null, oid text not null,
  constraint repository_refs_pk primary key (kb_id, ref)
);
create table repository_packs (
  key text primary key, kb_id text not null references repositories (kb_id), name text not null, size integer not null,
  replaced_at text
);
create index repository_packs_kb on repository_packs (kb_id, replaced_at);
create index repository_packs_replaced on repository_packs (replaced_at);
`),
  '0018-leases-of-idempotency': create('alter table idempotency_keys add column leased_until text;'),
  '0019-rates': create(`
create table rate_uses (key text primary key, points integer not null, ends_at text not null);
create index rate_uses_age on rate_uses (ends_at);
`),
  '0020-keys-of-blobs': create('create table blob_keys (sha256 text primary key, key text not null unique);'),
  '0021-chunks-of-uploads': create(`
create table upload_chunks (
  key text primary key, upload_id text not null, start integer not null, size integer not null,
  constraint upload_chunks_start unique (upload_id, start)
);
`),
  // Existing keys keep the right to fetch that they had.
  '0022-git-of-keys': create(`
alter table api_keys add column git text default 'none' not null;
update api_keys set git = 'main' where role <> 'curator';
`),
  '0023-branches-of-forges': create(`alter table forge_links add column branch text default 'main' not null;`),
  '0024-sources-by-uploader': create('create index sources_uploader on sources (tenant_id, uploader_id, id);'),
  '0025-life-of-tenants': create(`
alter table tenants add column former_slugs text default '[]' not null;
alter table tenants add column disabled_at text;
alter table tenants add column deleted_at text;
alter table tenants add column max_source_bytes integer;
alter table tenants add column max_kbs integer;
alter table knowledge_bases add column former_slugs text default '[]' not null;
alter table knowledge_bases add column disabled_at text;
alter table knowledge_bases add column deleted_at text;
`),
  '0026-saved-filters': create(`alter table memberships add column filters text default '[]' not null;`),
  '0027-asked-questions': create(`
create table asked_questions (
  kb_id text not null references knowledge_bases (id), question text not null, asked integer not null, empty integer not null,
  refused integer not null, down integer not null, asked_at text not null,
  constraint asked_questions_pk primary key (kb_id, question)
);
create index asked_questions_age on asked_questions (kb_id, asked_at);
create table opened_results (
  kb_id text not null references knowledge_bases (id), question text not null, seq_id text not null, times integer not null,
  constraint opened_results_pk primary key (kb_id, question, seq_id)
);
`),
  '0028-sites': create(`
create table sites (
  id text primary key, tenant_id text not null references tenants (id), kb_id text not null references knowledge_bases (id),
  name text not null, origins text not null, per_minute integer not null, per_day integer not null, secret text not null,
  disabled_at text, created_at text not null, day text not null, asked integer not null
);
create index sites_kb on sites (kb_id, id);
`),
  '0029-agents': create(`
alter table api_keys add column grant_id text;
alter table api_keys add column user_id text references users (id);
create unique index api_keys_grant on api_keys (grant_id);
create index api_keys_user on api_keys (user_id);
create table oauth_records (
  model text not null, hash text not null, payload text not null, grant_id text, consumed_at text, expires_at text,
  constraint oauth_records_pk primary key (model, hash)
) without rowid;
create index oauth_records_grant on oauth_records (grant_id);
create index oauth_records_age on oauth_records (expires_at);
`),
  '0030-limits-of-keys': create('alter table api_keys add column limits text;'),
  '0031-public-forges': create('alter table forge_links add column is_public integer;'),
  '0032-notices': create(`
alter table users add column notices text default 'at-once' not null;
alter table users add column notice_key text;
create table notices (
  id text primary key, tenant_id text not null references tenants (id), user_id text not null references users (id),
  kb_id text not null references knowledge_bases (id), kind text not null, candidate_id text, decision integer,
  is_digest integer not null, failures integer not null, at text not null, due_at text not null
);
create index notices_due on notices (due_at, id);
create index notices_user on notices (user_id);
create table notice_cursors (tenant_id text primary key references tenants (id), event integer not null, reminded_on text not null);
alter table webhooks add column format text default 'ganglion' not null;
`),
  '0033-events-by-kind': create(`
create index events_kind on events (tenant_id, kind, id, kb_id, curator_only);
create index events_kb on events (tenant_id, kb_id, kind, id, curator_only);
`),
  '0034-audience-of-keys': create('alter table api_keys add column audience text;'),
}
