const firstMs = 5_000
const longestMs = 12 * 60 * 60 * 1000
const patienceMs = 3 * 24 * 60 * 60 * 1000

/**
 * Returns when a delivery is tried again: after 5 seconds, then four times as long each time, up to 12 hours; undefined once it has
 * failed for three days.
 * @param failures how often it has failed, this time included
 * @param failingSince ISO 8601: when it failed first; null: now
 */
export function nextAttempt(failures: number, failingSince: string | null, now: Date): Date | undefined {
  const failingFor = now.getTime() - Date.parse(failingSince ?? now.toISOString())
  if (failingFor >= patienceMs) return undefined
  return new Date(now.getTime() + Math.min(longestMs, firstMs * 4 ** (failures - 1)))
}

/** Whether the time of an attempt has come; one further off than any was set by a clock that was put back since. */
export function isRetryDue(dueAt: string | null, now: Date): boolean {
  const wait = Date.parse(dueAt ?? now.toISOString()) - now.getTime()
  return wait <= 0 || wait > longestMs
}
