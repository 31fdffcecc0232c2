/** Milliseconds to wait if a forge tells no time: GitHub asks for at least a minute. */
const unknownWaitMs = 60_000
/** Maximum milliseconds to wait, since the forge's clock may be wrong by any amount. */
const longestWaitMs = 2 * 60 * 60_000

/**
 * Returns the time until which a forge accepts no more requests, or undefined. `Retry-After` is in seconds or a date (RFC 9110); the other
 * headers have GitHub's names, or GitLab's without `x-`.
 */
export function limitedUntil(status: number, headers: Headers, text: string, now: Date): Date | undefined {
  const remaining = headers.get('x-ratelimit-remaining') ?? headers.get('ratelimit-remaining')
  const isUsedUp = remaining === '0'
  const isLimited =
    status === 429 || (status === 403 && (isUsedUp || headers.has('retry-after') || /rate limit/i.test(text)))
  if (!isLimited && !isUsedUp) return undefined
  const after = isLimited ? retryAfter(headers.get('retry-after'), now) : undefined
  return after ?? bounded(resetOf(headers) ?? now.getTime() + unknownWaitMs, now)
}

/** Returns the time in the header `Retry-After` of any answer. */
export function retryAfter(value: string | null, now: Date): Date | undefined {
  if (value === null) return undefined
  const at = /^\d+$/.test(value) ? now.getTime() + Number(value) * 1000 : Date.parse(value)
  return Number.isNaN(at) ? undefined : bounded(at, now)
}

function bounded(at: number, now: Date): Date {
  return new Date(Math.min(Math.max(at, now.getTime()), now.getTime() + longestWaitMs))
}

function resetOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset') ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds * 1000 : undefined
}
