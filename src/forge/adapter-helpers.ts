import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Remark } from './forge-adapter.ts'
import { ForgeError } from './forge-error.ts'

/** Time in an answer, converted to ISO 8601 in UTC: some forges send it with the offset of their time zone. */
export const Time = z
  .string()
  .pipe(z.coerce.date())
  .transform((at) => at.toISOString())

/** Schema for answers whose content is not used. */
export const Ignored = z.unknown()

/** Marker of drafts in a forge's titles: the prefix to write, and all forms that the forge recognizes. */
export type DraftMark = { prefix: string; known: RegExp }

/** Sorts remarks in place, oldest first. */
export function byTime(remarks: Remark[]): Remark[] {
  return remarks.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** Returns the forge's own id of a comment, from {@link Remark.id}. */
export function commentNumber(id: string): number {
  return Number(id.slice(id.indexOf(':') + 1))
}

export function numberIn(url: string): number {
  return Number(url.slice(url.lastIndexOf('/') + 1))
}

/** Adds or removes the draft marker of a title. A title that only looks like a draft's loses that part. */
export function markedTitle(title: string, isDraft: boolean, { prefix, known }: DraftMark): string {
  return `${isDraft ? prefix : ''}${title.replace(known, '')}`
}

export function plainTitle(title: string, isDraft: boolean, { known }: DraftMark): string {
  return isDraft ? title.replace(known, '') : title
}

/** True if a header contains the HMAC-SHA-256 of a body in hexadecimal digits. Compares in constant time. */
export function isHmacOf(secret: string, body: Buffer, header: string | string[] | undefined): boolean {
  const expected = createHmac('sha256', secret).update(body).digest()
  const given = Buffer.from(typeof header === 'string' && /^[0-9a-f]{64}$/.test(header) ? header : '', 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Returns the token of a credential. @param forge its name, for people @throws {ForgeError} `refused` for an App, which only GitHub has */
export function tokenOf(credential: { token: string } | { appId: string }, forge: string): string {
  if ('token' in credential) return credential.token
  throw new ForgeError('refused', `${forge} has no Apps: it takes a token`)
}
