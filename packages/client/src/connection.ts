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
  /** Replacement for the global `fetch`. */
  fetch?: typeof fetch | undefined
  /** Timeout of an attempt, in milliseconds. Default: 60,000. Each 32 KB of a body add a second. */
  timeout?: number | undefined
  /** Maximum number of retries. Default: 4. */
  retries?: number | undefined
}

export type RequestOptions = {
  signal?: AbortSignal | undefined
  /** Timeout of an attempt, in milliseconds. Default: the client's. */
  timeout?: number | undefined
  /** `Idempotency-Key` of a write. Default: a random one. Within 24 hours, a write with the same key returns the first response. */
  idempotencyKey?: string | undefined
}

export type Sending = RequestOptions & {
  headers?: Record<string, string>
  /**
   * Kind of request. Default: `read` for a GET, else `write`, which has an `Idempotency-Key`. A request of the kind `once` is not
   * retried if its response is lost.
   */
  kind?: 'read' | 'write' | 'once'
  /** Value of `Accept`. If it is not JSON, the caller reads the response body. */
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

/** Sends requests to a server, and retries temporary failures. */
export class Connection {
  readonly retries: number
  readonly #request: Send
  readonly #fetch: typeof fetch
  readonly #timeout: number

  constructor({ url, key, fetch = globalThis.fetch, timeout = 60_000, retries = 4 }: GanglionOptions) {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
    // The type parameters of `run` check the path and its input instead.
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
    // `#attempt` throws on an unsuccessful response, so the data is there.
    return { data: data as Output<M, Path>, response }
  }

  async #send(request: Request, sending: Sending): Promise<Response> {
    // Read here, because the first attempt would consume the body of the request.
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
    // Redirects are not followed, so that the key is sent to no other server.
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

/**
 * Waits before a retry: exponential backoff with full jitter, added to the server's `Retry-After`.
 * @throws `error` if `Retry-After` exceeds two minutes
 */
export async function backOff(error: unknown, attempt: number, signal?: AbortSignal, first = 500): Promise<void> {
  const jitter = Math.random() * Math.min(15_000, first * 2 ** attempt)
  const least = error instanceof GanglionError ? (error.retryAfter ?? 0) * 1000 : 0
  if (least > maxWait) throw error
  await delay(least + jitter, signal)
}

/** Resolves after a number of milliseconds. @throws the reason of the signal once it aborts */
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

/** Returns a random key. `crypto.randomUUID` does not exist in pages served without TLS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
