import { z } from 'zod'

/** Time in an answer, converted to ISO 8601 in UTC: some forges send it with the offset of their time zone. */
export const Time = z
  .string()
  .pipe(z.coerce.date())
  .transform((at) => at.toISOString())

/** Schema for answers whose content is not used. */
export const Ignored = z.unknown()
