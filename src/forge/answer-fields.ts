import { z } from 'zod'

/** A time in an answer, as ISO 8601 in UTC: some forges give theirs with the offset of their time zone. */
export const Time = z
  .string()
  .pipe(z.coerce.date())
  .transform((at) => at.toISOString())

/** An answer that is not read. */
export const Ignored = z.unknown()
