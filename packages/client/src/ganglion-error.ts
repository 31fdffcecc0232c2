import type { Schemas } from './operation.ts'

/** Body of an error. Which fields it has depends on the code. */
export type ErrorBody = Partial<Schemas['Error'] & Omit<Schemas['DuplicateSource'], 'error' | 'code'>>

export type Refusal = {
  status: number
  /** Stable code of the error. */
  code: string
  body: ErrorBody
  headers: Headers
}

/** The server rejected the request. Each stable code has a class of its own, such as `NotFoundError`. */
export class GanglionError extends Error {
  readonly status: number
  /** Stable code; `unknown` if the response has none. */
  readonly code: string
  /** Names the request in the log of the server. */
  readonly requestId: string | undefined
  /** Faults by the name of the field, if the request does not match its schema. */
  readonly fieldErrors: Readonly<Record<string, string[]>>
  /** Faults of the request as a whole. */
  readonly formErrors: readonly string[]
  /** Seconds to wait before the next attempt. */
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

/** There is no answer, or none of a server of the contract. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** Reads `Retry-After`: seconds, or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
