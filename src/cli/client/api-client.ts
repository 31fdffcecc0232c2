import type { z } from 'zod'
import { fileTypes } from '../../contract/documents.ts'
import { ErrorAnswer } from '../../contract/envelope.ts'
import { type ErrorCode, errorTable } from '../../contract/errors.ts'
import { parseJson } from '../../contract/json.ts'

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
  /** With `file_type_not_allowed`: what is taken, in alphabetical order, of the types that this version of Ganglion knows. */
  readonly allowedTypes: readonly string[]

  constructor(code: ErrorCode, head: string | null, allowedTypes: readonly string[] = []) {
    super(errorTable[code].message)
    this.name = 'ApiRefusal'
    this.code = code
    this.head = head
    this.allowedTypes = fileTypes.filter((type) => allowedTypes.includes(type)).toSorted()
  }
}

/** There is no answer: perhaps there is one later. */
export class Unreachable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Unreachable'
  }
}

export type ApiRequest = {
  method: 'GET' | 'POST' | 'PATCH'
  headers?: Record<string, string>
  body?: NonNullable<RequestInit['body']>
  /** Milliseconds until the answer must be there. */
  timeout?: number
}

/** What a server answered; `json` is undefined where it is none. */
export type ApiAnswer = { status: number; json: unknown; retryAfter: string | null }

/**
 * Asks a route below `/api/v1`. Redirects are not followed, so that the key goes to nobody else, and none of the server's own
 * words are in a message: who else answers at its address may repeat the key.
 * @throws {Unreachable} where there is no answer in time. @throws {Error} where the answer is a redirect.
 */
export async function request(
  { url, key }: ApiServer,
  path: string,
  { method, headers = {}, body, timeout = 30_000 }: ApiRequest,
): Promise<ApiAnswer> {
  const {
    status,
    headers: answered,
    text,
  } = await ask(url, async () => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, accept: 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeout),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })
  if (status >= 300 && status < 400) throw new Error(redirected(url, answered.get('location')))
  return { status, json: parseJson(text), retryAfter: answered.get('retry-after') }
}

/** What an answer says. @throws {ApiRefusal} @throws {Error} where it is not as Ganglion answers. */
export function readAnswer<Schema extends z.ZodType>(
  { url }: ApiServer,
  { status, json }: ApiAnswer,
  schema: Schema,
): z.output<Schema> {
  const success = schema.safeParse(json)
  if (status < 300 && success.success) return success.data
  const refusal = ErrorAnswer.safeParse(json)
  if (status < 400 || !refusal.success)
    throw new Error(`${url} answered ${status}, not as Ganglion does. Is it the server's own URL?`)
  const { error, code = error, head = null, allowedTypes } = refusal.data
  if (typeof code !== 'string') throw new ApiRefusal('malformed_request', null)
  if (isErrorCode(code)) throw new ApiRefusal(code, head, allowedTypes)
  throw new Error(`${url} answered ${status}, with a code that this version of Ganglion does not know.`)
}

/** Posts JSON to a route, see {@link request}, and reads the answer, see {@link readAnswer}. */
export async function post<Schema extends z.ZodType>(
  server: ApiServer,
  path: string,
  body: unknown,
  schema: Schema,
  { timeout }: Pick<ApiRequest, 'timeout'> = {},
): Promise<z.output<Schema>> {
  const headers = { 'content-type': 'application/json' }
  const asked = { method: 'POST', headers, body: JSON.stringify(body) } as const
  return readAnswer(server, await request(server, path, timeout === undefined ? asked : { ...asked, timeout }), schema)
}

async function ask<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') throw new Unreachable(`${url} did not answer in time.`)
    throw new Unreachable(`${url} cannot be reached: ${reasonOf(error)}.`)
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

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code)
}
