import { z } from 'zod'

const forms = z.union([z.iso.date(), z.iso.datetime({ offset: true })])
const message = 'must be a day such as 2026-11-26, or a time with its zone such as 2026-11-26T08:00:00Z'

/** Returns a day's first moment in UTC, or an instant with a zone, as ISO 8601 in UTC. Undefined for any other text. */
export function instantOf(text: string): string | undefined {
  const full = text.replace(/(T\d\d:\d\d)(?=Z|[+-])/, '$1:00')
  if (!forms.safeParse(full).success) return undefined
  const instant = new Date(full).toISOString()
  // A zone can shift a time out of the years that sort as text.
  return /^\d/.test(instant) ? instant : undefined
}

/** Date or time in a parameter; all parameters share this grammar. See {@link instantOf}. */
export const Moment = z.string().refine((text) => instantOf(text) !== undefined, message)

/** Day in a parameter; a time is converted to its day in UTC. */
export const DayOf = Moment.overwrite((text) => instantOf(text)?.slice(0, 10) ?? text)

/** Returns a day in UTC: `2026-05-31`. */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10)
}

export function dayAfter(day: string, days: number): string {
  return utcDay(new Date(Date.parse(day) + days * 86_400_000))
}
