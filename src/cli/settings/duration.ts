import { z } from 'zod'

const milliseconds = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const longest = 100 * 365 * milliseconds.d

/** `90d`, `12h`, `30m`, `45s`, `2w`: a whole number and a unit, as milliseconds. More than nothing, at most 100 years. */
export const Duration = z
  .string()
  .regex(/^[0-9]{1,10}[smhdw]$/, 'must be a number and one of s, m, h, d, w, e.g. 90d')
  .transform((text) => Number(text.slice(0, -1)) * milliseconds[Unit.parse(text.slice(-1))])
  .refine((duration) => duration > 0 && duration <= longest, 'must be more than 0 and at most 100 years')

const Unit = z.enum(['s', 'm', 'h', 'd', 'w'])
