import type { z } from 'zod'
import { ErrorAnswer } from '../contract/envelope.ts'
import { type ErrorCode, errorTable } from '../contract/errors.ts'

/** A running server, and the API key to ask it with. */
export type ApiServer = {
  /** Without a slash at the end. */
  url: string
  key: string
}

/** The server understood the request and said no. */
export class ApiRefusal extends Error {
  readonly code: ErrorCode
  /** With `stale_head`: the present one, or null. */
  readonly head: string | null

  constructor(code: ErrorCode, head: string | null) {
    super(errorTable[code].message)
    this.name = 'ApiRefusal'
    this.code = code
    this.head = head
  }
}

/**
 * Posts JSON to a route below `/api/v1` and reads the answer. Redirects are not followed, so that the key goes to nobody
 * else, and none of the server's own words are in a message: who else answers at its address may repeat the key.
 * @throws {ApiRefusal} @throws {Error} where there is no answer of a Ganglion server within `timeout` milliseconds.
 */
export async function post<Schema extends z.ZodType>(
  server: ApiServer,
  path: string,
  body: unknown,
  schema: Schema,
  { timeout = 30_000 }: { timeout?: number } = {},
): Promise<z.output<Schema>> {
  const { url, key } = server
  const answer = await ask(url, async () => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeout),
    })
    return { status: response.status, location: response.headers.get('location'), text: await response.text() }
  })
  const { status, location, text } = answer
  if (status >= 300 && status < 400) throw new Error(redirected(url, location))
  const json = parseJson(text)
  const success = schema.safeParse(json)
  if (status < 300 && success.success) return success.data
  const refusal = ErrorAnswer.safeParse(json)
  if (status < 400 || !refusal.success)
    throw new Error(`${url} answered ${status}, not as Ganglion does. Is it the server's own URL?`)
  const { error, head = null } = refusal.data
  if (typeof error !== 'string') throw new ApiRefusal('malformed_request', null)
  if (isErrorCode(error)) throw new ApiRefusal(error, head)
  throw new Error(`${url} answered ${status}, with a code that this version of Ganglion does not know.`)
}

async function ask<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') throw new Error(`${url} did not answer in time.`)
    throw new Error(`${url} cannot be reached: ${reasonOf(error)}.`)
  }
}

/** What the network said, as `ECONNREFUSED`: fetch itself says no more than that it failed. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : undefined
  return typeof code === 'string' ? code : 'the connection failed'
}

function redirected(url: string, location: string | null): string {
  const origin = location === null ? undefined : URL.parse(location, url)?.origin
  return `${url} redirects${origin === undefined ? '' : ` to ${origin}`}. The key is not sent on; give the URL of the server itself.`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code)
}
