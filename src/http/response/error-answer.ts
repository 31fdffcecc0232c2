import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { ErrorAnswer } from '../../contract/envelope.ts'
import { type ErrorCode, errorTable, GanglionError, ValidationError, wordedErrors } from '../../contract/errors.ts'
import { faultText } from '../../contract/faults.ts'
import { refusalFor } from '../../kb/failure.ts'

/** Error codes for requests that Fastify or a plugin rejects, by status. */
const codeByStatus: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 'malformed_request'],
  [403, 'not_found'], // a path that leads out of the files of `/docs`
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [413, 'payload_too_large'],
  [415, 'unsupported_media_type'],
  [416, 'range_not_satisfiable'],
  [431, 'header_too_large'],
])

const retryAfter = 10

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, body } = refusalOf(error, request)
  if ((status === 429 || status === 503) && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfter)
  return reply.code(status).send(body)
}

/** Returns the status and the body for any error. Unexpected errors are logged and become `internal`. */
export function refusalOf(
  error: unknown,
  request: FastifyRequest,
): { status: number; body: Readonly<Record<string, unknown>> } {
  if (error instanceof ValidationError) {
    const { formErrors, fieldErrors } = error
    return { status: 400, body: { error: { formErrors, fieldErrors }, message: faultText(error) } }
  }
  if (isCutOff(error, request)) return { status: 400, body: envelope(new GanglionError('malformed_request')) }
  const refusal = error instanceof GanglionError ? error : fromFastify(error)
  if (refusal.status >= 500) request.log[refusal.code === 'internal' ? 'error' : 'warn']({ err: error }, refusal.code)
  return { status: refusal.status, body: envelope(refusal) }
}

/** True if the client disconnected before it had its response, which is not an error of the server. */
function isCutOff(error: unknown, { raw }: FastifyRequest): boolean {
  if (!(error instanceof Error)) return false
  const isReset = raw.errored !== null && 'code' in error && error.code === 'ECONNRESET'
  // A disconnect aborts the work of the request.
  return isReset || (raw.socket.destroyed && error.name === 'AbortError')
}

/** Returns the body of an error. `not_found` and `internal` have a fixed message, which cannot reveal what the caller may not see. */
function envelope({ code, message, details }: GanglionError): Record<string, unknown> {
  if (code === 'not_found' || code === 'internal') return { error: code, message: errorTable[code].message }
  return wordedErrors.has(code) ? { ...details, error: message, code } : { ...details, error: code, message }
}

function fromFastify(error: unknown): GanglionError {
  const isFastifys = error instanceof Error && 'code' in error && String(error.code).startsWith('FST_')
  const status = isFastifys && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status >= 400 && status < 500) return new GanglionError(codeByStatus.get(status) ?? 'malformed_request')
  return refusalFor(error)
}

/** Errors that any route of the API may answer with. */
const common = [
  'malformed_request',
  'invalid_token',
  'tenant_disabled',
  'not_found',
  'request_timeout',
  'rate_limited',
  'header_too_large',
  'internal',
  'unavailable',
  'insufficient_storage',
] as const satisfies readonly ErrorCode[]

/** Errors that any route that changes something may answer with. */
const ofWrites = [
  'foreign_origin',
  'stale_form',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[]

type ErrorAnswers<Code extends ErrorCode> = Record<(typeof errorTable)[Code]['status'], typeof ErrorAnswer>

export function readErrors<Code extends ErrorCode>(...codes: Code[]): ErrorAnswers<Code | (typeof common)[number]> {
  return errorAnswers([...common, ...codes])
}

/** Returns the response schemas of a route that changes something. */
export function writeErrors<Code extends ErrorCode>(
  ...codes: Code[]
): ErrorAnswers<Code | (typeof common)[number] | (typeof ofWrites)[number]> {
  return errorAnswers([...common, ...ofWrites, ...codes])
}

/** Returns response schemas by status, described by the meaning of their codes. */
export function errorAnswers<Code extends ErrorCode>(codes: readonly Code[]): ErrorAnswers<Code> {
  const meanings = Map.groupBy(codes, (code) => errorTable[code].status)
  const answers = [...meanings].map(([status, codes]): [number, z.ZodType] => {
    const lines = codes.map((code) => `\`${code}\`: ${errorTable[code].message}`)
    if (status === 400) lines.push('Or the faults of the request, by field.')
    return [status, ErrorAnswer.describe(lines.join('\n\n'))]
  })
  return Object.fromEntries(answers) as ErrorAnswers<Code>
}
