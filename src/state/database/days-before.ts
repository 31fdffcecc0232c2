/** Returns a time some days ago in the form of rows: ISO 8601, UTC. */
export function daysBefore(now: Date, days: number): string {
  return new Date(now.getTime() - days * 24 * 60 * 60 * 1000).toISOString()
}
