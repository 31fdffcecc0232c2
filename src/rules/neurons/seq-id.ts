import { z } from 'zod'
import { isUuid } from '../candidates/candidate-id.ts'
import { isReservedName } from '../paths/portable-path.ts'

export const maxNumber = 99_999_999

/** Schema of the slug of a KB or tenant. A UUID or a device name would make its address ambiguous. */
export const Slug = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/,
    'must be 1 to 100 of a-z, 0-9 and -, and begin and end with a letter or digit',
  )
  .refine((slug) => !isUuid(slug), 'must not look like a UUID')
  .refine((slug) => !isReservedName(slug), 'must not be a name that Windows reserves')

/** Schema of the prefix of a KB's seqIds. */
export const SeqPrefix = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -')

/** Returns `handbook_00000042` for `formatSeqId('handbook', 42)`. Throws RangeError outside 1 to 99,999,999. */
export function formatSeqId(prefix: string, number: number): string {
  if (!Number.isInteger(number) || number < 1 || number > maxNumber) {
    throw new RangeError(`A seqId's number must be from 1 to ${maxNumber}, not ${number}.`)
  }
  return `${prefix}_${String(number).padStart(8, '0')}`
}

export function parseSeqId(seqId: string): { prefix: string; number: number } | undefined {
  const [, prefix, digits] = /^([a-z0-9-]+)_([0-9]{8})$/.exec(seqId) ?? []
  return prefix === undefined || digits === undefined ? undefined : { prefix, number: Number(digits) }
}

/** Returns the default prefix of a KB: its slug, cut to the length of a prefix. */
export function derivePrefix(slug: string): string {
  return slug.slice(0, 32).replace(/-+$/, '')
}
