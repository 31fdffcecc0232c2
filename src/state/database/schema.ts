import type { Generated, Selectable } from 'kysely'
import type { SourceStatus } from '../../contract/documents.ts'
import type { EventKind } from '../../contract/events.ts'
import type { KeyAudience, NoticeMode, PersonRole, Role, WebhookFormat } from '../../contract/vocabulary.ts'
import type { Audience } from '../../rules/access/audience.ts'

/** Columns that tenants and knowledge bases share. */
export type LifecycleColumns = {
  id: string
  slug: string
  created_at: string
  former_slugs: Generated<string> // JSON array of strings: former slugs, which stay reserved.
  disabled_at: Generated<string | null> // Time at which it was disabled; null: it is served.
  /** Time at which its removal was requested; it is then disabled, too, and its slug is its id. */
  deleted_at: Generated<string | null>
}

/** Tables as both engines hold them. An `id` is a UUIDv7. Times are ISO 8601 in UTC with milliseconds, so that text order is time order. */
export type Schema = {
  tenants: LifecycleColumns & {
    max_source_bytes: Generated<number | null> // Null: unlimited.
    max_kbs: Generated<number | null>
  }
  knowledge_bases: LifecycleColumns & {
    tenant_id: string
    prefix: string // Prefix of seqIds.
  }
  api_keys: {
    id: string
    tenant_id: string
    name: string
    role: Role
    hash: string // SHA-256 of the token, hexadecimal.
    connectors: string // JSON array of strings.
    created_at: string
    expires_at: string | null
    revoked_at: string | null
    last_used_at: string | null
    created_by: string | null // Name of the person who made it; null: unknown.
    git: string // A `GitFetch`; in keys of an older version also `none` or `main`.
    limits: string | null // JSON object: limits of what it may propose; null: none.
    audience: KeyAudience | null // Audience that a reader key may request besides its own; null: none.
    /** OAuth grant of an agent that a person authorized. Its tokens are in `oauth_records`. */
    grant_id: string | null
    user_id: string | null
    admin: Generated<number> // 1: a curator's key that may also manage keys and webhooks.
    maker_id: string | null // Key as which it counts if no person made it: the first in the chain of keys that made it.
  }
  oauth_records: {
    model: string // Name of the model in the library, such as `AccessToken`.
    hash: string // SHA-256 of the id, hexadecimal.
    payload: string // JSON object.
    grant_id: string | null
    consumed_at: string | null
    expires_at: string | null
  }
  idempotency_keys: {
    tenant_id: string
    caller_id: string // An actor's id: `key:<id>` or `user:<id>`.
    idempotency_key: string
    route: string // Method and path.
    body_hash: string
    subject_id: string // Id reserved for what the request creates.
    status: number | null // HTTP status of the answer; null until it is known.
    answer: string | null // The answer's body as JSON; null until it is known.
    created_at: string
    /** End of the lease of the process that answers; null: no process does, or the database is SQLite. */
    leased_until: string | null
  }
  chat_sessions: {
    id: string
    tenant_id: string
    kb_id: string
    audience: Audience
    created_at: string
    used_at: string
    owner_id: string | null // Id of the actor that began it; null: unknown.
  }
  chat_turns: {
    id: string
    session_id: string
    ordinal: number // Position in the session, from 1.
    question: string
    answer: string
    citations: string // JSON array of citations.
    created_at: string
    grounds: string | null // JSON array of seqIds; null: only the citations are known.
  }
  events: {
    tenant_id: string
    id: number // Number within the tenant, from 1, without gaps.
    kb_id: string
    kind: EventKind
    at: string // Time at which it was logged.
    curator_only: number // 1: only curators may know of it.
    data: string // JSON object: data of this kind of event.
    candidate: string | null // JSON object: an `EventCandidate`; null for events without a candidate.
  }
  /** Id of a tenant's last event. */
  event_counters: {
    tenant_id: string
    last: number
  }
  /** Commits of a knowledge base up to which its events are logged; null: the ref did not exist. */
  event_cursors: {
    kb_id: string
    main: string | null
    queue: string | null
  }
  /** Ingest that is waiting or running. */
  jobs: {
    document_id: string // Id of the Source.
    tenant_id: string
    kb_id: string
    turn: number // Tag of fair queueing, lowest first; see `Jobs`.
    due_at: string
    starts: number // Number of starts.
    failures: number // Number of failures.
    owner: string | null // Process that runs it; null while it waits.
    leased_until: string | null // End of the owner's lease; null while it waits.
  }
  webhooks: {
    id: string
    tenant_id: string
    kb_id: string | null // Null: events of all knowledge bases.
    url: string
    secret: string // Signing key in clear text: `whsec_` and base64.
    kinds: string // JSON array; empty: events of all kinds.
    enabled: number // 0: nothing is sent.
    note: string | null // Problem, for people.
    cursor: number // Id of the last event that was delivered or skipped.
    failures: number // Number of failed deliveries of the next event.
    failing_since: string | null
    due_at: string | null
    created_at: string
    format: WebhookFormat
    former_secrets: Generated<string> // JSON array of replaced secrets that still sign, oldest first, each with its end.
  }
  webhook_deliveries: {
    id: Generated<number>
    webhook_id: string
    event_id: number | null // Null: a test.
    kind: string // Kind of the event, or `webhook.test`.
    at: string
    status: number | null // HTTP status of the answer; null where there was none.
    note: string | null // Reason of the failure; null on success.
    duration: number // Milliseconds.
  }
  /** Time of the last backup. `restore`: mark of an unfinished one, whose rows are inserted at its end. */
  stamps: {
    name: 'backup' | 'restore' | 'erasure' // `erasure`: one is decided, and `at` is its journal.
    at: string
  }
  /** Points counted under a key until a time. On PostgreSQL only. */
  rate_uses: {
    key: string
    points: number
    ends_at: string
  }
  /** Step of the tour that a person has taken, or that they closed it. */
  tour_marks: {
    tenant_id: string
    user_id: string
    mark: 'read' | 'search' | 'dismissed'
  }
  /** Mail to be sent to a person, or a line of their digest. */
  notices: {
    id: string // Derived from its content and recipient, so that none is stored twice.
    tenant_id: string
    user_id: string
    kb_id: string
    kind: EventKind | 'pages.stale'
    candidate_id: string | null
    decision: number | null // Index of the candidate's decision, from 0.
    is_digest: number // 1: for the digest.
    failures: number
    at: string
    due_at: string
  }
  /** Last event of a tenant for which notices were created, and the day of the last reminders. */
  notice_cursors: {
    tenant_id: string
    event: number
    reminded_on: string
  }
  /** Normalized question that people asked a knowledge base, with its counts. */
  asked_questions: {
    kb_id: string
    question: string
    asked: number
    empty: number // Searches that found nothing, answers that refused, and answers rated down.
    refused: number
    down: number
    asked_at: string
  }
  /** Result of a question that people opened. */
  opened_results: {
    kb_id: string
    question: string
    seq_id: string
    times: number
  }
  /** Website that may query a knowledge base. */
  sites: {
    id: string // UUIDv7.
    tenant_id: string
    kb_id: string
    name: string
    origins: string // JSON array of the origins of its pages, as in the header `Origin`.
    per_minute: number // Maximum questions of one visitor.
    per_day: number // Maximum questions of all visitors in a day (UTC).
    secret: string // Key of the tokens of visitors, in clear text.
    disabled_at: string | null // Null: it is open.
    created_at: string
    day: string // Day of the last question (UTC), or empty; `asked`: number of questions on it.
    asked: number
  }
  sources: {
    id: string // UUIDv7: the document's id.
    tenant_id: string
    kb_id: string
    seq: number // Within the knowledge base, from 1.
    filename: string
    path: string // Folder, absolute.
    file_type: string // Extension without dot, in lower case.
    file_size: number // Bytes.
    content_hash: string // SHA-256 of the bytes, hexadecimal: their name in the blob store.
    status: SourceStatus
    error_message: string | null
    tags: string | null // Separated by commas.
    connector: string
    source_url: string | null
    metadata: string | null // The text of a JSON object, as uploaded.
    uploader_id: string
    uploader_name: string
    is_forced: number // 1: added although its bytes existed.
    attempt: Generated<number> // Number of ingests that were started.
    created_at: string
    extracted_at: string | null
    archived_at: string | null
    edition_of: string // Id of the first edition of the document.
    warnings: string // JSON array of strings.
  }
  uploads: {
    id: string // UUIDv7, also of the Source that it becomes.
    tenant_id: string
    kb_id: string
    filename: string
    path: string
    metadata: string | null
    file_size: number // Bytes.
    content_hash: string | null
    is_forced: number
    replaces: Generated<number> // 1: becomes the next edition of the document with its folder and name.
    bytes_received: Generated<number> // Number of durable bytes, on disk or in `upload_chunks`.
    received_at: string | null // Time of the last received bytes; null: none.
    finalized_at: string | null
    created_at: string
    uploader_id: string | null // Id of the actor that began it; null: unknown.
  }
  /** Chunk of an upload: an object of the store that nodes share. */
  upload_chunks: {
    key: string // Below the prefix of uploads.
    upload_id: string
    start: number // Offset in the upload.
    size: number
  }
  /** Keys of the bytes of Sources in a bucket. */
  blob_keys: {
    sha256: string // Hexadecimal.
    key: string // Below the prefix of blobs.
  }
  users: {
    id: string
    email: string // Folded; see `foldEmail`.
    name: string
    password_hash: string | null // As `hashPassword` gives it; null: signs in by a link or an identity provider only.
    issuer: string | null // Identity at the identity provider; both null without one.
    subject: string | null
    created_at: string
    disabled_at: string | null
    notices: NoticeMode
    notice_key: string | null // Key of the link to unsubscribe from mails; null: no mail was sent.
  }
  memberships: {
    user_id: string
    tenant_id: string
    role: PersonRole
    filters: Generated<string> // JSON array of `SavedFilter`.
  }
  sessions: {
    id: string
    user_id: string
    tenant_id: string // Current tenant of the session.
    role: PersonRole // Role in that tenant when the token was created.
    hash: string // SHA-256 of the token, hexadecimal.
    previous_hash: string | null // Hash of the previous token, which is still accepted for a moment.
    rotated_at: string | null
    form_secret: string // Key of the tokens of forms.
    address: string // IP address that began it.
    agent: string // The browser's `User-Agent`.
    created_at: string
    used_at: string
  }
  one_time_links: {
    hash: string // SHA-256 of the token, hexadecimal.
    purpose: 'set-up' | 'reset'
    user_id: string | null // User whose password it sets; null: the user that it creates.
    tenant_id: string | null // Tenant in which it creates an administrator; null: it creates nobody.
    created_at: string
    expires_at: string
  }
  audit: {
    id: Generated<number>
    tenant_id: string
    at: string
    actor_id: string
    actor_name: string
    action: string // `<what>.<done>`, e.g. `user.disabled`.
    subject: string // Object of the action, in words.
    detail: string // Details in words; empty if there are none.
    address: string | null // The client's address; null for commands on the server's machine.
  }
  forge_links: {
    id: string
    tenant_id: string
    kb_id: string
    kind: string
    url: string // URL of the repository's web page.
    api_url: string | null
    credential: string // JSON object: locations of the secrets, never the secrets.
    webhook_secret: string | null // Location of the secret that signs webhooks; null: none are accepted.
    max_open: number // Maximum open pull requests for candidates.
    branch: string // Name of main there.
    is_public: number | null // 1: people without access to the knowledge base can read the repository. Null: unknown.
    main: string | null // Last commit that both mains were known to have.
    heard_at: string // Time by the forge's clock up to which comments have been read.
    synced_at: string | null // Time of the last successful comparison.
    failing_since: string | null // Time since which every attempt fails.
    failures: number
    note: string | null // Reason of the last failure, or a task for a person.
    due_at: string | null // Earliest time of the next attempt.
    created_at: string
  }
  forge_pulls: {
    link_id: string
    branch: string // Branch created for it; for a pull request that a person opened, its ref there.
    number: number | null // Null until the pull request is known to be open.
    candidates: string // JSON array of candidates' ids.
    state: 'open' | 'closed' | 'merged' // Last state on both sides: a side with another state has changed it since.
    head: string | null // Commit that was last pushed to its branch, or read from it.
    change: string | null // Digest of the changes of that commit: the branch is pushed again only if it differs.
    seen: string | null // Digest of the data that its text was built from.
    text: string | null // Digest of its last text.
    reported: string | null // Key of the last report; see `reportKey`.
    comments: number // Number of the candidate's comments that were posted there.
  }
  /** Repository that several machines share. */
  repositories: {
    kb_id: string // Id of its knowledge base, which may not exist yet.
    version: number // Raised by every change of its refs or packs.
  }
  repository_refs: {
    kb_id: string
    ref: string
    oid: string // Id of a commit.
  }
  repository_packs: {
    key: string // Key in the store of packs. None is used twice.
    kb_id: string
    name: string // The pack's checksum, hexadecimal.
    size: number // Bytes.
    replaced_at: string | null // Time since which its objects are in another pack; null: still needed.
  }
}

/** Row of a table as it is read. */
export type RowOf<Table extends keyof Schema> = Selectable<Schema[Table]>
