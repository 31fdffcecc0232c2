/** Returns a day in UTC: `2026-05-31`. */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10)
}

export function dayAfter(day: string, days: number): string {
  return utcDay(new Date(Date.parse(day) + days * 86_400_000))
}
