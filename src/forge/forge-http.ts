import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { inert } from '../rules/text/inert.ts'
import { hasCode } from '../system/error-code.ts'
import { ForgeError } from './forge-adapter.ts'

/** Milliseconds to wait if a forge gives no time. GitHub asks for at least a minute. */
const unknownWaitMs = 60_000
/** Maximum milliseconds to wait, since the forge's clock may be wrong by any amount. */
const longestWaitMs = 2 * 60 * 60_000

/** Timing of requests, which tests shorten. */
export type ForgeHttpTiming = {
  /** Minimum milliseconds between two writing requests, which some forges ask for. */
  writePauseMs?: number | undefined
  /** Timeout of an answer, in milliseconds. */
  timeoutMs?: number | undefined
  now?: (() => Date) | undefined
}

export type ForgeHttpOptions = ForgeHttpTiming & {
  /** URL of the API, without a trailing slash. */
  apiUrl: string
  headers: Readonly<Record<string, string>>
  /** Returns the authorization headers of a request. */
  authorize: () => Promise<Readonly<Record<string, string>>>
  /** Callback for a rejected credential, which then requests a new token. */
  onRefused?: () => void
}

/** Parsed answer. `next`: URL of the next page. `total`: number of items on all pages, if the forge tells it. */
type Answer = { body: unknown; next: string | undefined; total: number }
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

const defaultTimeoutMs = 30_000
/** Maximum number, and bytes, of answers that are cached for conditional requests. */
const maxKept = 200
const maxKeptBytes = 32 * 1024 * 1024
/** Maximum characters of an answer. */
const maxAnswer = 16 * 1024 * 1024
/** Maximum pages of a list: more would exhaust the rate limit. */
const maxPages = 200
/** Maximum characters of a forge's error message. */
const maxMessage = 200

/** Matches fields that contain no text. In all other fields, markup and mentions in texts of others are made inert. */
const noText = /^(?:color|path|.*_url)$/

function inertField(name: string, value: unknown): unknown {
  return typeof value === 'string' && !noText.test(name) ? inert(value) : value
}

/**
 * Client for JSON over HTTP in the style of forges' APIs: conditional requests, pages by `Link` or by number, limits. Requests are not
 * retried, since the bridge compares again anyway. Redirects are not followed, so that no credential reaches another host.
 */
export class ForgeHttp {
  readonly #options: ForgeHttpOptions
  readonly #kept = new LRUCache<string, Answer & { etag: string }>({
    max: maxKept,
    maxSize: maxKeptBytes,
    sizeCalculation: ({ body }) => JSON.stringify(body).length + 1,
  })
  #limitedUntil: Date | undefined
  #lastWrite: Promise<unknown> = Promise.resolve()

  constructor(options: ForgeHttpOptions) {
    this.#options = options
  }

  async get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> {
    return parsed(schema, (await this.#request('GET', path)).body, path)
  }

  /**
   * Returns all pages of a list.
   * @param isEnough receives the last item of a page, and returns true to stop
   * @throws {ForgeError}, also for a list that is too long, since a part could be mistaken for the whole
   */
  async list<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    isEnough: (last: z.output<Schema>) => boolean = () => false,
  ): Promise<z.output<Schema>[]> {
    const all: z.output<Schema>[] = []
    let next: string | undefined = path
    for (let page = 1; next !== undefined; page++) {
      if (page > maxPages) throw new ForgeError('unexpected', `${path} has more than ${maxPages} pages`)
      const answer = await this.#request('GET', next)
      if (!Array.isArray(answer.body)) throw new ForgeError('unexpected', `${path} is no list`)
      for (const item of answer.body) all.push(parsed(schema, item, path))
      // Some lists of Gitea have a count instead of `Link`.
      const isMore = answer.body.length > 0 && all.length < answer.total
      next = answer.next ?? (isMore ? pageAfter(next) : undefined)
      const last = all.at(-1)
      if (last !== undefined && isEnough(last)) return all
    }
    return all
  }

  async send<Schema extends z.ZodType>(
    method: Exclude<Method, 'GET'>,
    path: string,
    body: unknown,
    schema: Schema,
  ): Promise<z.output<Schema>> {
    const pause = this.#options.writePauseMs ?? 0
    const sent = this.#lastWrite.then(() => this.#request(method, path, body))
    this.#lastWrite = sent.catch(() => {}).then(() => (pause > 0 ? delay(pause, undefined, { ref: false }) : undefined))
    return parsed(schema, (await sent).body, path)
  }

  async #request(method: Method, path: string, body?: unknown): Promise<Answer> {
    const { apiUrl, headers, authorize, timeoutMs = defaultTimeoutMs, now = () => new Date() } = this.#options
    if (this.#limitedUntil !== undefined && now() < this.#limitedUntil) throw limited(this.#limitedUntil)
    const url = path.startsWith('/') ? `${apiUrl}${path}` : path
    const known = method === 'GET' ? this.#kept.get(url) : undefined
    const authorization = await authorize()
    const { response, text } = await exchange(url, {
      method,
      headers: {
        ...headers,
        ...authorization,
        ...(known === undefined ? {} : { 'if-none-match': known.etag }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body, inertField) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    this.#limitedUntil = limitedUntil(response.status, response.headers, text, now())
    if (response.status === 304 && known !== undefined) return known
    if (response.status === 401) this.#options.onRefused?.()
    const { headers: received } = response
    if (!response.ok) {
      const until = this.#limitedUntil ?? retryAfter(received.get('retry-after'), now())
      throw refusal(`${method} ${new URL(url).pathname}`, response.status, text, until)
    }
    const total = Number(received.get('x-total-count') ?? received.get('x-total') ?? 0)
    const answer = { body: parseJson(text, path), next: nextPage(received.get('link'), url), total }
    const etag = received.get('etag')
    if (method === 'GET' && etag !== null) this.#kept.set(url, { ...answer, etag })
    return answer
  }
}

async function exchange(url: string, init: RequestInit): Promise<{ response: Response; text: string }> {
  const once = async () => {
    const response = await fetch(url, init)
    return { response, text: await readText(response) }
  }
  try {
    // A server may close an idle connection while a request is on its way (RFC 9112, section 9.3.1).
    return await once().catch((error: unknown) => {
      if (init.method === 'GET' && error instanceof Error && hasCode(error.cause, 'ECONNRESET')) return once()
      throw error
    })
  } catch (cause) {
    if (cause instanceof ForgeError) throw cause
    const { host } = new URL(url)
    const isLate = cause instanceof Error && cause.name === 'TimeoutError'
    throw new ForgeError('unreachable', isLate ? `${host} did not answer in time` : `${host} cannot be reached`, {
      cause,
    })
  }
}

async function readText(response: Response): Promise<string> {
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.length > maxAnswer) throw new ForgeError('unexpected', `an answer is longer than ${maxAnswer} characters`)
  }
  return text
}

function parseJson(text: string, path: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ForgeError('unexpected', `${path} is not JSON`, { cause })
  }
}

function parsed<Schema extends z.ZodType>(schema: Schema, body: unknown, path: string): z.output<Schema> {
  const { data, error } = schema.safeParse(body)
  if (error === undefined) return data
  const where = error.issues.map((issue) => issue.path.join('.')).join(', ')
  throw new ForgeError('unexpected', `${path} has an unexpected answer: ${where || 'its whole'}`, { cause: error })
}

function limited(until: Date): ForgeError {
  return new ForgeError('rate-limited', `the forge takes no more requests until ${until.toISOString()}`, { until })
}

function refusal(what: string, status: number, text: string, until: Date | undefined): ForgeError {
  if (until !== undefined && (status === 403 || status === 429)) return limited(until)
  const isMoved = status >= 300 && status < 400
  const moved = isMoved ? ': the repository was renamed or moved; link it again by its new address' : ''
  const isArchived = status === 423 || (status === 403 && /archived/i.test(text))
  const archived = isArchived ? ': the repository is archived; bring it back, or unlink the knowledge base' : ''
  const message = `${what} was answered with ${status}${saidIn(text)}${moved}${archived}`
  if (status >= 500 || status === 408) return new ForgeError('unreachable', message, { until })
  if (status === 401 || status === 403 || isArchived) return new ForgeError('refused', message)
  // A redirect means that the repository was renamed and must be linked again.
  if (status === 404 || status === 410 || status < 400) return new ForgeError('gone', message)
  return new ForgeError('conflict', message)
}

/** Returns a forge's error message on one line. */
function saidIn(text: string): string {
  try {
    const { message, error, errors } = JSON.parse(text)
    const details = textsIn([message ?? error, errors])
    return details.length === 0 ? '' : `: ${details.join('; ').replace(/\s+/g, ' ').slice(0, maxMessage)}`
  } catch {
    return ''
  }
}

/** Returns all texts at any depth: GitLab lists errors for each field, GitHub has objects with a `message`. */
function textsIn(part: unknown): string[] {
  if (typeof part === 'string') return [part]
  if (typeof part !== 'object' || part === null) return []
  return 'message' in part ? textsIn(part.message) : Object.values(part).flatMap(textsIn)
}

function pageAfter(path: string): string {
  const [bare, query] = path.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set('page', String(Number(parameters.get('page') ?? 1) + 1))
  return `${bare}?${parameters}`
}

/**
 * Returns the URL of the next page from a `Link` header (RFC 8288). Only its query is used: a forge may be reached by another URL than its
 * own, and the credential must go nowhere else.
 */
function nextPage(link: string | null, page: string): string | undefined {
  const [, url] = /<([^<>]+)>\s*;[^<]*\brel="?next"?/.exec(link ?? '') ?? []
  return url !== undefined && URL.canParse(url, page) ? new URL(new URL(url, page).search, page).href : undefined
}

/**
 * Returns the time until which a forge accepts no more requests, or undefined. `Retry-After` is in seconds or a date (RFC 9110); the other
 * headers have GitHub's names, or GitLab's without `x-`.
 */
function limitedUntil(status: number, headers: Headers, text: string, now: Date): Date | undefined {
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
