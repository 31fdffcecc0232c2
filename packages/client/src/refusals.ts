import { errorClasses } from './error-classes.ts'
import { ConnectionError, type ErrorBody, GanglionError } from './ganglion-error.ts'

const isKnown = (code: string): code is keyof typeof errorClasses => Object.hasOwn(errorClasses, code)

/** Codes by status, for servers whose errors are sentences instead of codes. */
const codeByStatus: Readonly<Record<number, keyof typeof errorClasses>> = {
  400: 'malformed_request',
  401: 'invalid_token',
  403: 'insufficient_role',
  404: 'not_found',
  413: 'payload_too_large',
  429: 'rate_limited',
  503: 'unavailable',
}

/** Returns the error for an unsuccessful response. @param text body of the response */
export function readRefusal(text: string, { status, headers }: Response): GanglionError {
  return refusalOf(parseBody(text), status, headers)
}

/** Returns the error for a body. @param status defaults to the usual status of the code, for an error within a stream */
export function refusalOf(body: ErrorBody, status?: number, headers: Headers = new Headers()): GanglionError {
  const given = body.code ?? body.error
  const isCode = typeof given === 'string' && /^[a-z_]+$/.test(given)
  const code = isCode ? given : (codeByStatus[status ?? 0] ?? 'unknown')
  const [usual, ErrorClass] = isKnown(code) ? errorClasses[code] : ([0, GanglionError] as const)
  return new ErrorClass({ status: status ?? usual, code, body, headers })
}

/** True if a retry may succeed. */
export function isTemporary(error: unknown): error is GanglionError | ConnectionError {
  if (error instanceof GanglionError) return [408, 429, 502, 503, 504].includes(error.status)
  return error instanceof ConnectionError
}

function parseBody(text: string): ErrorBody {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
