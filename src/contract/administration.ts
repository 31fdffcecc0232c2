import { z } from 'zod'
import { EventKind } from './events.ts'
import { TextOrUuid, Timestamp, Uuid } from './identifiers.ts'
import { GitFetch, KeyAudience, KeyRole, WebhookFormat } from './vocabulary.ts'

/** A name that people choose: one line. */
export const Label = z.string().regex(/^[^\p{Cc}]{1,100}$/u, 'must be one line of 1 to 100 characters')

const count = z.int().min(0).max(10_000).nullable()
const Folder = z.string().regex(/^(?!\/)[^\p{Cc}]{1,500}$/u, 'must be a path below neurons/, such as guides/vip')

/** Limits on a key's proposals in each knowledge base. */
export const KeyLimits = z.object({
  pending: count.describe('Maximum number of its pending candidates. Null: unlimited.'),
  approved: count.describe('Maximum that the policy approves in a day (UTC); further ones wait. Null: unlimited.'),
  paths: z.array(Folder).max(50).describe('Folders or pages below `neurons/`. Without `paths` and `tags`: any page.'),
  tags: z.array(Label).max(50).describe('Tags of pages. A page needs one of `paths` and `tags`.'),
})
export type KeyLimits = z.infer<typeof KeyLimits>

/** Returns the limits, or null if they limit nothing. */
export function limitsOrNone(limits: KeyLimits): KeyLimits | null {
  const { pending, approved, paths, tags } = limits
  return pending === null && approved === null && paths.length === 0 && tags.length === 0 ? null : limits
}

export const NewApiKey = z
  .object({
    name: Label.describe('Display name.'),
    role: KeyRole.describe('What the key may do. `admin`: as a curator, and manage keys and webhooks.'),
    connectors: z.array(Label).max(50).describe('Connectors for which the key is trusted.').default([]),
    expiresAt: Timestamp.nullable().describe('Time of expiry. Null: never.').default(null),
    git: GitFetch.describe('What the key fetches with git. A curator fetches everything.').default('shown'),
    audience: KeyAudience.nullable()
      .describe('Audience that a reader key may request besides its own. Other roles need none.')
      .default(null),
    limits: KeyLimits.nullable().describe('What it may propose in each knowledge base. Null: anything.').default(null),
  })
  .meta({
    id: 'ApiKeyInput',
    description: 'An API key to create.',
    examples: [{ name: 'Website', role: 'app', expiresAt: '2027-02-27T00:00:00Z' }],
  })
export type NewApiKey = z.input<typeof NewApiKey>

const listedKey = z.object({
  ...NewApiKey.shape,
  // Older keys may have other names.
  name: z.string().describe('Display name.'),
  connectors: z.array(z.string()).describe('Connectors for which the key is trusted.'),
  id: z.uuid().describe('UUID of the key.'),
  createdAt: Timestamp.describe('Time when it was made.'),
  createdBy: z.string().nullable().describe('Name of the person or key that made it. Null if unknown.'),
  lastUsedAt: Timestamp.nullable().describe('Time of its last use, to the minute.'),
  revokedAt: Timestamp.nullable().describe('Time when it was revoked.'),
  isAgent: z.boolean().describe('True for the key of an agent that a person authorized with OAuth.'),
})
const exampleKey = {
  ...{ id: '01a21734-6b1e-7e0f-b0a2-5a3c1d2e4f60', name: 'Website', role: 'app', connectors: [], git: 'shown' },
  ...{ audience: null, limits: null, createdAt: '2026-11-29T08:00:00.000Z', expiresAt: '2027-02-27T00:00:00.000Z' },
  ...{ createdBy: 'Ada', lastUsedAt: null, revokedAt: null, isAgent: false },
}
export const ListedKey = listedKey.meta({
  id: 'ApiKey',
  description: 'An API key, without its token.',
  examples: [exampleKey],
})
/** API key without its token. */
export type ListedKey = z.output<typeof ListedKey>

export const KeyPath = z.object({ id: Uuid.describe('UUID of the key.') })
export const KeyQuery = z.object({ cursor: Uuid.describe('`nextCursor` of the page before.').exactOptional() })
export const KeyPage = z
  .object({
    keys: z.array(ListedKey).describe('The keys, with revoked and expired ones.'),
    nextCursor: z.string().nullable().describe('`cursor` of the next page. Null on the last one.'),
  })
  .meta({
    id: 'ApiKeyPage',
    description: 'A page of API keys, newest first.',
    examples: [{ keys: [exampleKey], nextCursor: null }],
  })
export const KeyChange = NewApiKey.pick({ limits: true })
  .required()
  .meta({ id: 'ApiKeyChange', description: 'Limits of an API key.', examples: [{ limits: null }] })

/** Describes a secret in the answer that creates it. */
const shownOnce = z.string().nullable().describe('Shown only here. Null for a repeated `Idempotency-Key`.')

export const MadeKey = listedKey.extend({ token: shownOnce }).meta({
  id: 'ApiKeyWithToken',
  description: 'A new API key.',
  examples: [{ ...exampleKey, token: `gng_${'x'.repeat(43)}` }],
})

/** URL that receives the messages of a webhook. */
const ReceiverUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2_000, 'must have at most 2,000 characters')
  .refine((text) => {
    const url = URL.parse(text)
    return url === null || `${url.username}${url.password}${url.hash}` === ''
  }, 'must be without user, password and fragment')

export const NewWebhook = z
  .object({
    url: ReceiverUrl.describe('URL of the receiver.'),
    kb: TextOrUuid.describe('Slug or UUID of the knowledge base whose events are sent. Default: all.').optional(),
    kinds: z.array(EventKind).max(100).describe('Kinds of events to send. Empty: all.').default([]),
    format: WebhookFormat.describe('Format of the messages.').default('ganglion'),
  })
  .meta({
    id: 'WebhookInput',
    description: 'A webhook to create.',
    examples: [{ url: 'https://hooks.example.org/kb', kb: 'handbook', kinds: ['candidate.approved'] }],
  })
export type NewWebhook = z.input<typeof NewWebhook>

const listedWebhook = z.object({
  ...NewWebhook.omit({ kb: true }).shape,
  url: z.string().describe('URL of the receiver.'),
  id: z.uuid().describe('UUID of the webhook.'),
  kbId: z.string().nullable().describe('UUID of the knowledge base whose events are sent. Null: all.'),
  kb: z.string().nullable().describe('Its slug.'),
  isEnabled: z.boolean().describe('False while nothing is sent: it was paused, or given up after three days.'),
  note: z.string().nullable().describe('Problem, for a person.'),
  cursor: z.int().describe('Id of the last event that was delivered or skipped.'),
  lastEvent: z.int().describe('Id of the newest event.'),
  failures: z.int().describe('Failed deliveries of the next event.'),
  failingSince: Timestamp.nullable().describe('Time of the first of these failures.'),
  dueAt: Timestamp.nullable().describe('Time of the next attempt after a failure.'),
  createdAt: Timestamp.describe('Time when it was made.'),
  formerSecretUntil: Timestamp.nullable().describe('Time until which a replaced secret signs, too. Null if none does.'),
})
const exampleWebhook = {
  ...{ id: '01a21734-7c2f-7b1a-9d3e-8f4a2b6c0d11', url: 'https://hooks.example.org/kb', kinds: ['candidate.approved'] },
  ...{ format: 'ganglion', kbId: '01a21734-1111-7aaa-8bbb-0123456789ab', kb: 'handbook', isEnabled: true, note: null },
  ...{ cursor: 297, lastEvent: 298, failures: 0, failingSince: null, dueAt: null, formerSecretUntil: null },
  createdAt: '2026-11-29T08:00:00.000Z',
}
export const ListedWebhook = listedWebhook.meta({
  id: 'Webhook',
  description: 'A webhook, without its secret.',
  examples: [exampleWebhook],
})
/** Webhook without its secret. */
export type ListedWebhook = z.output<typeof ListedWebhook>

export const WebhookPath = z.object({ id: Uuid.describe('UUID of the webhook.') })
export const WebhookList = z
  .object({ webhooks: z.array(ListedWebhook).describe('Webhooks, oldest first.') })
  .meta({ id: 'WebhookList', description: 'Webhooks.', examples: [{ webhooks: [exampleWebhook] }] })

const exampleDelivery = {
  ...{ eventId: 297, kind: 'candidate.approved', at: '2026-11-29T08:00:00.000Z' },
  ...{ status: 204, note: null, duration: 38 },
}

export const DeliveryAttempt = z
  .object({
    eventId: z.int().nullable().describe('Id of the event. Null for a test.'),
    kind: z.string().describe('Kind of the event, or `webhook.test`.'),
    at: Timestamp.describe('Time when it was sent.'),
    status: z.int().nullable().describe('HTTP status of the answer. Null if there was none.'),
    note: z.string().nullable().describe('Why it was not accepted, for a person. Null if it was.'),
    duration: z.int().describe('Milliseconds until the answer.'),
  })
  .meta({
    id: 'WebhookDelivery',
    description: 'An attempt to deliver a message, without its content.',
    examples: [exampleDelivery],
  })
export const WebhookDetail = listedWebhook
  .extend({
    firstEvent: z.int().describe('Id of the oldest event that is kept.'),
    deliveries: z.array(DeliveryAttempt).describe('The last 100, newest first.'),
  })
  .meta({
    id: 'WebhookDetail',
    description: 'A webhook with its last deliveries.',
    examples: [{ ...exampleWebhook, firstEvent: 1, deliveries: [exampleDelivery] }],
  })
export const MadeWebhook = listedWebhook.extend({ secret: shownOnce }).meta({
  id: 'WebhookWithSecret',
  description: 'A webhook with its new secret.',
  examples: [{ ...exampleWebhook, secret: `whsec_${'x'.repeat(43)}=` }],
})

export const WebhookChange = z
  .object({
    url: NewWebhook.shape.url.exactOptional(),
    kinds: NewWebhook.shape.kinds.unwrap().exactOptional(),
    isEnabled: z
      .boolean()
      .describe('False stops deliveries. True resumes them, with the missed events.')
      .exactOptional(),
    from: z.int().min(1).max(1e15).describe('Id of an event: it and all later ones are sent again.').exactOptional(),
  })
  .meta({ id: 'WebhookChange', description: 'What changes.', examples: [{ isEnabled: true, from: 298 }] })
export type WebhookChange = z.infer<typeof WebhookChange>

/** Origin of pages, as a browser sends it in `Origin`. */
const WebOrigin = z
  .string()
  .max(300, 'must have at most 300 characters each')
  .refine((text) => {
    const url = URL.parse(text)
    return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  }, 'must be addresses without a path, such as https://www.example.org')
  .transform((text) => new URL(text).origin)

/** Website whose pages may query a knowledge base. */
export const NewSite = z.object({
  name: Label,
  origins: z.array(WebOrigin).min(1).max(20),
  perMinute: z.int().min(1).max(600),
  perDay: z.int().min(1).max(1_000_000),
})
export type NewSite = z.output<typeof NewSite>
