import { z } from 'zod'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Text that may be a UUID. A UUID is converted to lower case: RFC 9562 compares without case. */
export const TextOrUuid = z.string().overwrite((text) => (uuid.test(text) ? text.toLowerCase() : text))

/** Id of a resource in a request. */
export const Uuid = z.uuid().overwrite((id) => id.toLowerCase())

/** Slug or UUID of a knowledge base in a path; both match one pattern. */
export const KbId = TextOrUuid.regex(/^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/, 'must be a slug or a UUID').meta({
  description: 'Slug or UUID of the knowledge base.',
  examples: ['handbook'],
})

/** Id of a knowledge base in a response. */
export const KbUuid = z.uuid().describe('UUID of the knowledge base.')

/** Id of a commit, or at least its first 4 digits. */
export const CommitId = z.string().regex(/^[0-9a-f]{4,64}$/, "must be a commit's hexadecimal object id")

/** The full object id of a git object: SHA-1, or SHA-256. */
export const ObjectId = z
  .string()
  .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'must be the full id of a git object')
  .describe('Id of the commit: 40 or 64 hexadecimal digits.')

/** Schema of a time: ISO 8601 with an offset. */
export const Timestamp = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-11-26T08:00:00Z' })
  // Times are compared as texts, in UTC: its offset must not move one beyond four digits of a year.
  .refine(
    (time) => Number.isNaN(Date.parse(time)) || /^\d{4}-/.test(new Date(time).toISOString()),
    'must be in the years 0 to 9999 in UTC',
  )
