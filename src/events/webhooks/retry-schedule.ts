const firstMs = 5_000
const longestMs = 12 * 60 * 60 * 1000
const patienceMs = 3 * 24 * 60 * 60 * 1000

/**
 * Returns the time of the next attempt: after 5 seconds, then four times as long each time, up to 12 hours; undefined after three
 * days of failures.
 * @param failures number of failures, including the last one
 * @param failingSince time of the first failure, ISO 8601; null: now
 */
export function nextAttempt(failures: number, failingSince: string | null, now: Date): Date | undefined {
  const failingFor = now.getTime() - Date.parse(failingSince ?? now.toISOString())
  if (failingFor >= patienceMs) return undefined
  return new Date(now.getTime() + Math.min(longestMs, firstMs * 4 ** (failures - 1)))
}

/** True if an attempt is due. A time further off than the maximum was set by a clock that was set back since. */
export function isRetryDue(dueAt: string | null, now: Date): boolean {
  const wait = Date.parse(dueAt ?? now.toISOString()) - now.getTime()
  return wait <= 0 || wait > longestMs
}
