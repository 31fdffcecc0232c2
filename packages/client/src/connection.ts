import createClient from 'openapi-fetch'
import { type Answered, Call } from './call.ts'
import { ConnectionError, GanglionError } from './ganglion-error.ts'
import type { Input, Method, Output, PathOf } from './operation.ts'
import { isTemporary, readRefusal } from './refusals.ts'

export type GanglionOptions = {
  /** Address of the server, with its path prefix if it has one. */
  url: string
  /** API key. Leave it out if a proxy adds it: a key does not belong in a web page. */
  key?: string | undefined
  /** Sends the requests instead of the global `fetch`. */
  fetch?: typeof fetch | undefined
  /** Milliseconds for an attempt; 60,000 by default. A body gets a second more for each 32 KB. */
  timeout?: number | undefined
  /** Attempts after the first; 4 by default. */
  retries?: number | undefined
}

export type RequestOptions = {
  signal?: AbortSignal | undefined
  /** Milliseconds for an attempt, instead of the client's. */
  timeout?: number | undefined
  /** Key of a write, instead of a random one: within 24 hours, a write with the same key returns the first response. */
  idempotencyKey?: string | undefined
}

export type Sending = RequestOptions & {
  headers?: Record<string, string>
  /** Default: `read` for a GET, else `write`, which has an `Idempotency-Key`. What is `once` is not repeated if its response is lost. */
  kind?: 'read' | 'write' | 'once'
  /** If it is not JSON, the caller reads the response. */
  accept?: string
  retries?: number
}

type Send = (
  method: string,
  path: string,
  init: {
    params: object
    body: unknown
    headers: Record<string, string>
    parseAs: 'json' | 'stream'
    fetch: (request: Request) => Promise<Response>
    bodySerializer?: () => FormData | Blob
  },
) => Promise<{ data: unknown; response: Response }>

const json = 'application/json'
const maxWait = 120_000

/** Sends requests to a server, and repeats those that failed for a time. */
export class Connection {
  readonly retries: number
  readonly #request: Send
  readonly #fetch: typeof fetch
  readonly #timeout: number

  constructor({ url, key, fetch = globalThis.fetch, timeout = 60_000, retries = 4 }: GanglionOptions) {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
    // The types of `run` say what belongs to a path.
    this.#request = createClient<Record<string, never>>({ baseUrl: url, headers }).request as unknown as Send
    this.retries = retries
    this.#timeout = timeout
    this.#fetch = (input, init) => fetch(input, init)
  }

  call<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    input: Input<M, Path>,
    sending?: Sending,
  ): Call<Output<M, Path>> {
    return new Call(this.run(method, path, input, sending))
  }

  async run<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    input: Input<M, Path>,
    sending: Sending = {},
  ): Promise<Answered<Output<M, Path>>> {
    const { body, raw, ...params } = input as { body?: unknown; raw?: FormData | Blob }
    const { accept = json, kind = method === 'get' ? 'read' : 'write' } = sending
    const { idempotencyKey = kind === 'write' ? newKey() : undefined } = sending
    const headers = { accept, ...sending.headers, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) }
    const { data, response } = await this.#request(method, path, {
      params,
      body: raw ?? body,
      headers,
      parseAs: accept === json ? 'json' : 'stream',
      fetch: (request) => this.#send(request, { ...sending, kind }),
      ...(raw && { bodySerializer: () => raw }),
    })
    // A response that is no success has thrown.
    return { data: data as Output<M, Path>, response }
  }

  async #send(request: Request, sending: Sending): Promise<Response> {
    // Read once, since the body of a request is gone after the first attempt.
    const body = request.method === 'GET' ? undefined : await request.arrayBuffer()
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(request, body, sending)
      } catch (error) {
        const wasRejected = error instanceof GanglionError && error.status === 429
        const isRepeatable = isTemporary(error) && (sending.kind !== 'once' || wasRejected)
        if (!isRepeatable || attempt >= (sending.retries ?? this.retries)) throw error
        await backOff(error, attempt, sending.signal)
      }
    }
  }

  async #attempt(
    { url, method, headers }: Request,
    body: ArrayBuffer | undefined,
    { signal, accept = json, timeout = this.#timeout }: Sending,
  ): Promise<Response> {
    signal?.throwIfAborted()
    const { origin } = new URL(url)
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeout + (body?.byteLength ?? 0) / 32)
    const either = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
    // Redirects are not followed, so that the key goes nowhere else.
    const init: RequestInit = { method, headers, redirect: 'manual', signal: either }
    if (body?.byteLength) init.body = body
    let response: Response
    let bytes: ArrayBuffer
    try {
      response = await this.#fetch(url, init)
      if (response.ok && accept !== json) return response
      bytes = await response.arrayBuffer()
    } catch (cause) {
      signal?.throwIfAborted()
      const what = late.signal.aborted ? 'did not answer in time' : 'cannot be reached'
      throw new ConnectionError(`${origin} ${what}.`, { cause })
    } finally {
      clearTimeout(timer)
    }
    if (response.status >= 300 && response.status < 400) {
      const to = URL.parse(response.headers.get('location') ?? '', url)?.origin ?? 'another address'
      throw new TypeError(`${origin} redirects to ${to}. The key is not sent on; give the URL of the server itself.`)
    }
    if (response.ok && bytes.byteLength > 0 && !response.headers.get('content-type')?.startsWith(json))
      throw new TypeError(`${origin} answered ${response.status} without JSON: this is no address of an API.`)
    if (!response.ok) throw readRefusal(new TextDecoder().decode(bytes), response)
    return new Response(response.status === 204 ? null : bytes, response)
  }
}

/** Waits before another attempt: full jitter, and not before the server's `Retry-After`. @throws `error` if that is too long */
export async function backOff(error: unknown, attempt: number, signal?: AbortSignal, first = 500): Promise<void> {
  const jitter = Math.random() * Math.min(15_000, first * 2 ** attempt)
  const least = error instanceof GanglionError ? (error.retryAfter ?? 0) * 1000 : 0
  if (least > maxWait) throw error
  await delay(least + jitter, signal)
}

/** Resolves after so many milliseconds. @throws the reason of the signal once it aborts */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
  })
}

/** `crypto.randomUUID` is missing from pages that came without TLS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
