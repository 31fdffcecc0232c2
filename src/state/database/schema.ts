import type { Generated } from 'kysely'
import type { SourceStatus } from '../../contract/documents.ts'
import type { EventKind } from '../../contract/events.ts'
import type { GitFetch, KeyAudience, NoticeMode, PersonRole, Role, WebhookFormat } from '../../contract/vocabulary.ts'
import type { Audience } from '../../rules/access/audience.ts'

/** Rows as both engines hold them. An `id` is a UUIDv7. Times are ISO 8601 in UTC with milliseconds, so that text order is time order. */
export type Schema = {
  tenants: TenantRow
  knowledge_bases: KnowledgeBaseRow
  api_keys: ApiKeyRow
  oauth_records: OauthRecordRow
  idempotency_keys: IdempotencyKeyRow
  chat_sessions: ChatSessionRow
  chat_turns: ChatTurnRow
  events: EventRow
  event_counters: EventCounterRow
  event_cursors: EventCursorRow
  jobs: JobRow
  webhooks: WebhookRow
  webhook_deliveries: WebhookDeliveryRow
  stamps: StampRow
  rate_uses: RateUseRow
  tour_marks: TourMarkRow
  notices: NoticeRow
  notice_cursors: NoticeCursorRow
  asked_questions: AskedQuestionRow
  opened_results: OpenedResultRow
  sites: SiteRow
  sources: SourceRow
  uploads: UploadRow
  upload_chunks: UploadChunkRow
  blob_keys: BlobKeyRow
  users: UserRow
  memberships: MembershipRow
  sessions: SessionRow
  one_time_links: OneTimeLinkRow
  audit: AuditRow
  forge_links: ForgeLinkRow
  forge_pulls: ForgePullRow
  repositories: RepositoryRow
  repository_refs: RepositoryRefRow
  repository_packs: RepositoryPackRow
}

/** Columns that tenants and knowledge bases share. */
export type LifecycleRow = {
  id: string
  slug: string
  created_at: string
  /** JSON array of strings: the slugs that it had before. They are its own for ever. */
  former_slugs: Generated<string>
  /** Time at which it was disabled; null: it is served. */
  disabled_at: Generated<string | null>
  /** Time at which its removal was requested; it is then disabled, too, and its slug is its id. */
  deleted_at: Generated<string | null>
}

type TenantRow = LifecycleRow & {
  /** Null: unlimited. */
  max_source_bytes: Generated<number | null>
  max_kbs: Generated<number | null>
}

type KnowledgeBaseRow = LifecycleRow & {
  tenant_id: string
  /** Prefix of seqIds. */
  prefix: string
}

export type ApiKeyRow = {
  id: string
  tenant_id: string
  name: string
  role: Role
  /** SHA-256 of the token, hexadecimal. */
  hash: string
  /** JSON array of strings. */
  connectors: string
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
  /** Name of the person who made it; null: not known. */
  created_by: string | null
  /** A {@link GitFetch}; of a key of an older version also `none` or `main`. */
  git: string
  /** JSON object: limits of what it may propose; null: anything. */
  limits: string | null
  /** Audience that a reader key may ask for beside its own; null: none. */
  audience: KeyAudience | null
  /** Of an agent that a person let in: the grant, and the person. Its tokens are among the records of OAuth. */
  grant_id: string | null
  user_id: string | null
}

export type OauthRecordRow = {
  /** Name of the model in the library, such as `AccessToken`. */
  model: string
  /** SHA-256 of the id, hexadecimal. */
  hash: string
  /** JSON object. */
  payload: string
  grant_id: string | null
  consumed_at: string | null
  expires_at: string | null
}

type IdempotencyKeyRow = {
  tenant_id: string
  /** An actor's id: `key:<id>` or `user:<id>`. */
  caller_id: string
  idempotency_key: string
  /** Method and path. */
  route: string
  body_hash: string
  /** Id reserved for what the request creates. */
  subject_id: string
  /** HTTP status of the answer; null until it is known. */
  status: number | null
  /** The answer's body as JSON; null until it is known. */
  answer: string | null
  created_at: string
  /** End of the lease of the process that answers; null: none does, or the database is SQLite, with one process. */
  leased_until: string | null
}

type ChatSessionRow = {
  id: string
  tenant_id: string
  kb_id: string
  audience: Audience
  created_at: string
  used_at: string
  /** Id of the actor that began it; null where that was not kept. */
  owner_id: string | null
}

export type ChatTurnRow = {
  id: string
  session_id: string
  /** Within the session, from 1. */
  ordinal: number
  question: string
  answer: string
  /** JSON array of citations. */
  citations: string
  created_at: string
  /** JSON array of seqIds; null where only the citations are known. */
  grounds: string | null
}

export type EventRow = {
  tenant_id: string
  /** Within the tenant, from 1, without holes. */
  id: number
  kb_id: string
  kind: EventKind
  /** Time at which it was logged. */
  at: string
  /** 1: only curators may know of it. */
  curator_only: number
  /** JSON object: data of this kind of event. */
  data: string
  /** JSON object: an `EventCandidate`; null for events without a candidate. */
  candidate: string | null
}

/** The id of a tenant's last event. */
type EventCounterRow = {
  tenant_id: string
  last: number
}

/** The commits of a knowledge base up to which its events are logged; null: the ref did not exist. */
type EventCursorRow = {
  kb_id: string
  main: string | null
  queue: string | null
}

export type SourceRow = {
  /** UUIDv7: the document's id. */
  id: string
  tenant_id: string
  kb_id: string
  /** Within the knowledge base, from 1. */
  seq: number
  filename: string
  /** Folder, absolute. */
  path: string
  /** Extension without dot, in lower case. */
  file_type: string
  /** Bytes. */
  file_size: number
  /** SHA-256 of the bytes, hexadecimal: their name in the blob store. */
  content_hash: string
  status: SourceStatus
  error_message: string | null
  /** Separated by commas. */
  tags: string | null
  connector: string
  source_url: string | null
  /** The text of a JSON object, as uploaded. */
  metadata: string | null
  uploader_id: string
  uploader_name: string
  /** 1: accepted although its bytes existed. */
  is_forced: number
  /** Ingests that were begun. */
  attempt: Generated<number>
  created_at: string
  extracted_at: string | null
  archived_at: string | null
  /** The id of the first of the Sources that are one document, each newer than the one before. */
  edition_of: string
  /** JSON array of strings. */
  warnings: string
}

export type UploadRow = {
  /** UUIDv7: of the Source that it becomes, too. */
  id: string
  tenant_id: string
  kb_id: string
  filename: string
  path: string
  metadata: string | null
  /** Bytes. */
  file_size: number
  content_hash: string | null
  is_forced: number
  /** 1: asked to be the next edition of what stands at its place under its name. */
  replaces: Generated<number>
  /** Bytes that are on the disk, or in `upload_chunks`. */
  bytes_received: Generated<number>
  /** When bytes came last; null: none have. */
  received_at: string | null
  finalized_at: string | null
  created_at: string
  /** Id of the actor that began it; null where that was not kept. */
  uploader_id: string | null
}

/** Bytes of an upload, as an object of the store that nodes share. */
type UploadChunkRow = {
  /** Below the prefix of uploads. */
  key: string
  upload_id: string
  /** Where in the upload they begin. */
  start: number
  size: number
}

/** Where a bucket has the bytes of Sources. */
type BlobKeyRow = {
  /** Hexadecimal. */
  sha256: string
  /** Below the prefix of blobs. */
  key: string
}

/** An ingest that waits or runs. */
export type JobRow = {
  /** Id of the Source. */
  document_id: string
  tenant_id: string
  kb_id: string
  /** The lowest is first; see `Jobs`. */
  turn: number
  due_at: string
  /** How often it was begun. */
  starts: number
  /** How often it has failed. */
  failures: number
  /** Process that runs it; null while it waits. */
  owner: string | null
  /** End of the owner's lease; null while it waits. */
  leased_until: string | null
}

export type WebhookRow = {
  id: string
  tenant_id: string
  /** Null: events of all knowledge bases. */
  kb_id: string | null
  url: string
  /** In clear, since it signs: `whsec_` and base64. */
  secret: string
  /** JSON array; empty: events of all kinds. */
  kinds: string
  /** 0: nothing is sent. */
  enabled: number
  /** Problem, for people. */
  note: string | null
  /** Id of the last event that was delivered or skipped. */
  cursor: number
  /** Deliveries of the next event that have failed. */
  failures: number
  failing_since: string | null
  due_at: string | null
  created_at: string
  format: WebhookFormat
}

export type UserRow = {
  id: string
  /** Folded; see `foldEmail`. */
  email: string
  name: string
  /** As `hashPassword` gives it; null: signs in by a link or an identity provider only. */
  password_hash: string | null
  /** Identity at the identity provider; both null without one. */
  issuer: string | null
  subject: string | null
  created_at: string
  disabled_at: string | null
  notices: NoticeMode
  /** Key of the link that stops their mails; null: none was sent. */
  notice_key: string | null
}

type MembershipRow = {
  user_id: string
  tenant_id: string
  role: PersonRole
  /** JSON array of `SavedFilter`. */
  filters: Generated<string>
}

export type SessionRow = {
  id: string
  user_id: string
  /** Tenant of the session now. */
  tenant_id: string
  /** The role in that tenant when the token was made. */
  role: PersonRole
  /** SHA-256 of the token, hexadecimal. */
  hash: string
  /** Hash of the previous token, which is still accepted for a moment. */
  previous_hash: string | null
  rotated_at: string | null
  /** Key of the tokens of forms. */
  form_secret: string
  /** IP address that began it. */
  address: string
  /** The browser's `User-Agent`. */
  agent: string
  created_at: string
  used_at: string
}

export type OneTimeLinkRow = {
  /** SHA-256 of the token, hexadecimal. */
  hash: string
  purpose: 'set-up' | 'reset'
  /** User whose password it sets; null: the user that it creates. */
  user_id: string | null
  /** Tenant in which it creates an administrator; null: it creates nobody. */
  tenant_id: string | null
  created_at: string
  expires_at: string
}

export type AuditRow = {
  id: Generated<number>
  tenant_id: string
  at: string
  actor_id: string
  actor_name: string
  /** `<what>.<done>`, e.g. `user.disabled`. */
  action: string
  /** Object of the action, in words. */
  subject: string
  /** Details in words; empty if there are none. */
  detail: string
  /** The client's address; null for commands on the server's machine. */
  address: string | null
}

export type WebhookDeliveryRow = {
  id: Generated<number>
  webhook_id: string
  /** Null: a test. */
  event_id: number | null
  /** Kind of the event, or `webhook.test`. */
  kind: string
  at: string
  /** HTTP status of the answer; null where there was none. */
  status: number | null
  /** Reason of the failure; null on success. */
  note: string | null
  /** Milliseconds. */
  duration: number
}

/** A mail that is to be sent to a person, or a line of their digest. */
export type NoticeRow = {
  /** Derived from its content and its receiver, so that none is stored twice. */
  id: string
  tenant_id: string
  user_id: string
  kb_id: string
  kind: EventKind | 'pages.stale'
  candidate_id: string | null
  /** Index of the candidate's decision, from 0. */
  decision: number | null
  /** 1: for the digest. */
  is_digest: number
  failures: number
  at: string
  due_at: string
}

/** The last event of a tenant that notices were made of, and the day of the last reminders. */
export type NoticeCursorRow = { tenant_id: string; event: number; reminded_on: string }

/** What a person has seen of the tour, or that they have put it away. */
type TourMarkRow = {
  tenant_id: string
  user_id: string
  mark: 'read' | 'search' | 'dismissed'
}

/** A normalized question that people asked a knowledge base, and how often. */
export type AskedQuestionRow = {
  kb_id: string
  question: string
  asked: number
  /** Searches that found nothing, answers that refused, and answers rated down. */
  empty: number
  refused: number
  down: number
  asked_at: string
}

/** A result of a question that people opened. */
type OpenedResultRow = { kb_id: string; question: string; seq_id: string; times: number }

/** Pages of others that may ask a knowledge base. */
export type SiteRow = {
  /** UUIDv7. */
  id: string
  tenant_id: string
  kb_id: string
  name: string
  /** JSON array of the origins of its pages, as in the header `Origin`. */
  origins: string
  /** Maximum questions of one visitor. */
  per_minute: number
  /** Maximum questions of all visitors in a day (UTC). */
  per_day: number
  /** Key of the tokens of visitors, in clear text. */
  secret: string
  /** Null: it is open. */
  disabled_at: string | null
  created_at: string
  /** The day of the last question (UTC), or empty; `asked`: how many there were in it. */
  day: string
  asked: number
}

/** Points counted under a key until a time, on PostgreSQL only. */
type RateUseRow = {
  key: string
  points: number
  ends_at: string
}

/** Time of the last backup. `restore`: mark of one that has begun and not ended; its rows come with its end. */
type StampRow = {
  /** `erasure`: one is decided, and `at` is its journal. */
  name: 'backup' | 'restore' | 'erasure'
  at: string
}

export type ForgeLinkRow = {
  id: string
  tenant_id: string
  kb_id: string
  kind: string
  /** URL of the repository's web page. */
  url: string
  api_url: string | null
  /** JSON object: places of the secrets, not the secrets. */
  credential: string
  /** Place of the secret that signs webhooks; null: none are accepted. */
  webhook_secret: string | null
  /** Maximum open pull requests for candidates. */
  max_open: number
  /** Name of main there. */
  branch: string
  /** 1: people without access to the knowledge base can read it there. Null: not known yet. */
  is_public: number | null
  /** Last commit that both mains were known to have. */
  main: string | null
  /** Time by the forge's clock up to which comments have been read. */
  heard_at: string
  /** Time of the last successful comparison. */
  synced_at: string | null
  /** Time since which every attempt fails. */
  failing_since: string | null
  failures: number
  /** Reason of the last failure, or a task for a person. */
  note: string | null
  /** Earliest time of the next attempt. */
  due_at: string | null
  created_at: string
}

export type ForgePullRow = {
  link_id: string
  /** Branch created for it; for a pull request that a person opened, its ref there. */
  branch: string
  /** Null until the pull request is known to be open. */
  number: number | null
  /** JSON array of candidates' ids. */
  candidates: string
  /** Last state on both sides: a side with another state has changed it since. */
  state: 'open' | 'closed' | 'merged'
  /** Commit that was last pushed to its branch, or read from it. */
  head: string | null
  /** Digest of the changes of that commit: the branch is pushed again only if it differs. */
  change: string | null
  /** Digest of the fields that its text was made of. */
  seen: string | null
  /** Digest of its last text. */
  text: string | null
  /** Last report on it, and for which commit. */
  reported: string | null
  /** Number of the candidate's comments that are there. */
  comments: number
}

/** A repository that several machines share. */
type RepositoryRow = {
  /** Id of its knowledge base, which may not exist yet. */
  kb_id: string
  /** Raised by every change of its refs or packs. */
  version: number
}

type RepositoryRefRow = {
  kb_id: string
  ref: string
  /** Id of a commit. */
  oid: string
}

type RepositoryPackRow = {
  /** Key in the store of packs. None is used twice. */
  key: string
  kb_id: string
  /** The pack's checksum, hexadecimal. */
  name: string
  /** Bytes. */
  size: number
  /** Time since which its objects are in another pack; null: it is needed. */
  replaced_at: string | null
}
