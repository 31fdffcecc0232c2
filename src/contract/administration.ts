import { z } from 'zod'
import { EventKind } from './events.ts'
import { TextOrUuid } from './identifiers.ts'
import { GitFetch, Role } from './vocabulary.ts'

/** What people call something: one line. */
export const Label = z.string().regex(/^[^\p{Cc}]{1,100}$/u, 'must be one line of 1 to 100 characters')

export const NewApiKey = z.object({
  name: Label,
  role: Role,
  /** Connectors that the key may speak as. */
  connectors: z.array(Label).max(50),
  /** Null: never. */
  expiresAt: z.date().nullable(),
  git: GitFetch.exclude(['main']).default('none'),
})
export type NewApiKey = z.input<typeof NewApiKey>

/** An API key without its token. Times are ISO 8601, UTC. */
export type ApiKeySummary = {
  id: string
  name: string
  role: Role
  connectors: string[]
  git: GitFetch
  createdAt: string
  /** Null: not known. */
  createdBy: string | null
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
}

/** Where a webhook's messages go. */
export const ReceiverUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2_000, 'must have at most 2,000 characters')
  .refine((text) => {
    const url = URL.parse(text)
    return url === null || `${url.username}${url.password}${url.hash}` === ''
  }, 'must be without user, password and fragment')

export const NewWebhook = z.object({
  url: ReceiverUrl,
  /** Slug or UUID of the only knowledge base whose events are sent. */
  kb: TextOrUuid.optional(),
  /** Empty: all. */
  kinds: z.array(EventKind),
})
export type NewWebhook = z.infer<typeof NewWebhook>

/** A webhook without its secret. */
export type WebhookSummary = {
  id: string
  url: string
  /** UUID of the only knowledge base whose events are sent, and its slug; null: of all. */
  kbId: string | null
  kb: string | null
  kinds: EventKind[]
  isEnabled: boolean
  note: string | null
  /** The events up to this id are delivered, out of those up to `lastEvent`. */
  cursor: number
  lastEvent: number
  failures: number
  failingSince: string | null
  dueAt: string | null
  createdAt: string
}

/** What became of one message of a webhook. */
export type WebhookDelivery = {
  /** Null: a test. */
  eventId: number | null
  /** Of the event, or `webhook.test`. */
  kind: string
  /** ISO 8601, UTC. */
  at: string
  /** HTTP status of the answer; null where there was none. */
  status: number | null
  /** Why it was not taken; null where it was. */
  note: string | null
  /** Milliseconds. */
  duration: number
}
