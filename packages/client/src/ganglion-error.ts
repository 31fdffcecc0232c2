import type { Schemas } from './operation.ts'

/** Body of an error response. Its fields depend on the code. */
export type ErrorBody = Partial<Schemas['Error'] & Omit<Schemas['DuplicateSource'], 'error' | 'code'>>

export type Refusal = {
  status: number
  /** Stable code of the error. */
  code: string
  body: ErrorBody
  headers: Headers
}

/** Error of a request that the server rejected. Each stable code has its own class, such as `NotFoundError`. */
export class GanglionError extends Error {
  readonly status: number
  /** Stable code; `unknown` if the response has none. */
  readonly code: string
  /** Id of the request in the server's log. */
  readonly requestId: string | undefined
  /** Validation messages by field, if the request does not match its schema. */
  readonly fieldErrors: Readonly<Record<string, string[]>>
  /** Validation messages about the request as a whole. */
  readonly formErrors: readonly string[]
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | undefined
  /** The whole body, such as `existingDocumentId` of a `DuplicateSourceError`. */
  readonly body: ErrorBody

  constructor({ status, code, body, headers }: Refusal) {
    const faults = typeof body.error === 'object' ? body.error : undefined
    const text = typeof body.error === 'string' ? body.error : undefined
    super(body.message ?? text ?? `The server answered ${status}.`)
    this.name = `${code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Error`
    this.status = status
    this.code = code
    this.body = body
    this.requestId = headers.get('x-request-id') ?? undefined
    this.fieldErrors = faults?.fieldErrors ?? {}
    this.formErrors = faults?.formErrors ?? []
    this.retryAfter = secondsOf(headers.get('retry-after'))
  }
}

/** Error of a request without a response, or with one that broke off. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** Parses `Retry-After`, which is a number of seconds or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
