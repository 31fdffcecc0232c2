/** What a limit without a time means: GitHub asks to wait a minute at least. */
const unknownWaitMs = 60_000
/** No limit is waited for longer; another clock may be wrong by any amount. */
const longestWaitMs = 2 * 60 * 60_000

/**
 * Until when a forge wants no more requests, by its answer to one; undefined: it takes more. `Retry-After` is in seconds or a date
 * (RFC 9110); the names of the other headers are GitHub's, and those of GitLab without `x-`.
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

/** When to ask again, by the header `Retry-After` of any answer. */
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
