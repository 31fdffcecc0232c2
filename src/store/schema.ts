import type { EventKind } from '../contract/events.ts'
import type { Role } from '../contract/vocabulary.ts'
import type { Audience } from '../knowledge/audience.ts'

/** Rows as SQLite holds them. Times are ISO 8601 in UTC with milliseconds, so that text order is time order. */
export type Schema = {
  tenants: TenantRow
  knowledge_bases: KnowledgeBaseRow
  api_keys: ApiKeyRow
  idempotency_keys: IdempotencyKeyRow
  chat_sessions: ChatSessionRow
  chat_turns: ChatTurnRow
  events: EventRow
  event_cursors: EventCursorRow
}

type TenantRow = {
  /** UUIDv7. */
  id: string
  slug: string
  created_at: string
}

type KnowledgeBaseRow = {
  /** UUIDv7. */
  id: string
  tenant_id: string
  slug: string
  /** What a seqId begins with. */
  prefix: string
  created_at: string
}

export type ApiKeyRow = {
  /** UUIDv7. */
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
}

type IdempotencyKeyRow = {
  tenant_id: string
  key_id: string
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
}

type ChatSessionRow = {
  /** UUIDv7. */
  id: string
  tenant_id: string
  kb_id: string
  audience: Audience
  created_at: string
  used_at: string
}

type ChatTurnRow = {
  /** UUIDv7. */
  id: string
  session_id: string
  /** Within the session, from 1. */
  ordinal: number
  question: string
  answer: string
  /** JSON array of citations. */
  citations: string
  created_at: string
}

type EventRow = {
  tenant_id: string
  /** Within the tenant, from 1, without holes. */
  id: number
  kb_id: string
  kind: EventKind
  /** When it came into the log. */
  at: string
  /** 1: of what only curators may know. */
  curator_only: number
  /** JSON object: what the kind tells beside all this. */
  data: string
}

/** The commits of a knowledge base up to which its events have been told; null where the ref was not there. */
type EventCursorRow = {
  kb_id: string
  main: string | null
  queue: string | null
}
