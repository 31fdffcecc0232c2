import { z } from 'zod'
import { EventKind } from './events.ts'
import { TextOrUuid } from './identifiers.ts'
import { GitFetch, KeyAudience, Role, WebhookFormat } from './vocabulary.ts'

/** A name that people choose: one line. */
export const Label = z.string().regex(/^[^\p{Cc}]{1,100}$/u, 'must be one line of 1 to 100 characters')

/** Limits on a key's proposals in each knowledge base. */
export const KeyLimits = z.object({
  /** Maximum number of its pending candidates; null: unlimited. */
  pending: z.int().min(0).max(10_000).nullable(),
  /** Maximum number of its candidates a day (UTC) that the policy may approve; further ones are pending. Null: unlimited. */
  approved: z.int().min(0).max(10_000).nullable(),
  /** Folders or pages below `neurons/`, and tags: a page needs one of them. Both empty: any page. */
  paths: z
    .array(z.string().regex(/^(?!\/)[^\p{Cc}]{1,500}$/u, 'must be a path below neurons/, such as guides/vip'))
    .max(50),
  tags: z.array(Label).max(50),
})
export type KeyLimits = z.infer<typeof KeyLimits>

/** Returns the limits, or null if they limit nothing. */
export function limitsOrNone(limits: KeyLimits): KeyLimits | null {
  const { pending, approved, paths, tags } = limits
  return pending === null && approved === null && paths.length === 0 && tags.length === 0 ? null : limits
}

export const NewApiKey = z.object({
  name: Label,
  role: Role,
  /** Connectors for which the key is trusted. */
  connectors: z.array(Label).max(50),
  /** Time of expiry; null: never. */
  expiresAt: z.date().nullable(),
  git: GitFetch.default('shown'),
  /** Audience that a reader key may request besides its own. Other roles need none. */
  audience: KeyAudience.nullable().default(null),
  limits: KeyLimits.nullable().default(null),
})
export type NewApiKey = z.input<typeof NewApiKey>

/** URL that receives the messages of a webhook. */
const ReceiverUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2_000, 'must have at most 2,000 characters')
  .refine((text) => {
    const url = URL.parse(text)
    return url === null || `${url.username}${url.password}${url.hash}` === ''
  }, 'must be without user, password and fragment')

export const NewWebhook = z.object({
  url: ReceiverUrl,
  /** Slug or UUID of the knowledge base whose events are sent. Default: all. */
  kb: TextOrUuid.optional(),
  /** Kinds of events to send; empty for all. */
  kinds: z.array(EventKind),
  /** Format of the messages. */
  format: WebhookFormat.default('ganglion'),
})
export type NewWebhook = z.input<typeof NewWebhook>

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
