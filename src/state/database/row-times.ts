/** Returns the time `milliseconds` after another, or before it if negative, in the form of rows: ISO 8601, UTC. */
export function timeAfter(now: Date, milliseconds: number): string {
  return new Date(now.getTime() + milliseconds).toISOString()
}

export function daysBefore(now: Date, days: number): string {
  return timeAfter(now, -days * 24 * 60 * 60 * 1000)
}
