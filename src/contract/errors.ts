/**
 * Every error of the API: its stable code, HTTP status and default message for a person. The response has the code in `error` and
 * the message in `message`.
 */
export const errorTable = {
  malformed_request: { status: 400, message: 'The request could not be understood.' },
  reason_required_for_negative_vote: { status: 400, message: 'A vote of `down` or `flag` needs a reason.' },
  no_file: { status: 400, message: 'No file provided' },
  file_type_not_allowed: { status: 400, message: 'File type not allowed' },
  not_a_source: { status: 400, message: 'The document is a Neuron; only a Source can be ingested.' },
  invalid_token: { status: 401, message: 'The bearer token is missing or invalid.' },
  sign_in_failed: { status: 401, message: 'The e-mail or the password is wrong.' },
  no_role: { status: 403, message: 'You have no role here. Ask an administrator for one.' },
  insufficient_role: { status: 403, message: 'The role of the API key or person does not allow this.' },
  tenant_disabled: { status: 403, message: 'The tenant is disabled. Ask the operator of the server.' },
  stale_form: { status: 403, message: 'The form has expired. Reload the page and submit it again.' },
  foreign_origin: { status: 403, message: 'The request comes from a page of another site.' },
  not_found: { status: 404, message: 'There is nothing here.' },
  method_not_allowed: { status: 405, message: 'The method is not allowed here.' },
  request_timeout: { status: 408, message: 'The request took too long to arrive.' },
  not_pending: { status: 409, message: 'The candidate is not pending.' },
  not_approved: { status: 409, message: 'Only an approved candidate can be reverted.' },
  not_dismissed: { status: 409, message: 'Only a dismissed candidate can be reopened.' },
  merge_conflict: { status: 409, message: 'The Neuron has changed on `main`, and the changes conflict.' },
  target_not_found: { status: 409, message: 'The Neuron that the candidate targets does not exist.' },
  target_unreadable: {
    status: 409,
    message: 'The front matter of the Neuron that the candidate targets cannot be read.',
  },
  stale_head: { status: 409, message: 'The candidate has changed since it was reviewed.' },
  record_full: { status: 409, message: 'The record of the candidate is full.' },
  not_disabled: { status: 409, message: 'The knowledge base is served. Disable it first.' },
  last_administrator: {
    status: 409,
    message: 'A tenant needs an administrator. Make another person an administrator first.',
  },
  already_exists: { status: 409, message: 'It already exists.' },
  duplicate_source: { status: 409, message: 'The knowledge base already has a Source with the same bytes.' },
  already_processing: { status: 409, message: 'The Source is being processed.' },
  offset_mismatch: { status: 409, message: 'The chunk begins after the received bytes.' },
  chunk_differs: { status: 409, message: 'The chunk differs from the received bytes.' },
  upload_finalized: { status: 409, message: 'The upload is finalized.' },
  link_expired: { status: 410, message: 'The link was already used or has expired. Ask for a new one.' },
  upload_expired: { status: 410, message: 'The upload has expired.' },
  payload_too_large: { status: 413, message: 'The request body is too large.' },
  unsupported_media_type: { status: 415, message: 'The content type is not supported.' },
  range_not_satisfiable: { status: 416, message: 'The range does not fit the file.' },
  incomplete: { status: 422, message: 'The upload is incomplete.' },
  hash_mismatch: { status: 422, message: 'The bytes do not have the announced SHA-256.' },
  idempotency_key_reused: { status: 422, message: 'The idempotency key was already used for another request.' },
  rate_limited: { status: 429, message: 'Too many requests; try again later.' },
  too_many_uploads: { status: 429, message: 'Too many uploads are open.' },
  queue_full: { status: 429, message: 'The queue of this knowledge base is full.' },
  header_too_large: { status: 431, message: 'The request headers are too large.' },
  internal: { status: 500, message: 'Something went wrong on our side.' },
  provider_unavailable: {
    status: 503,
    message: 'The single sign-on provider cannot be reached. Try again later, or sign in with a password.',
  },
  unavailable: { status: 503, message: 'The service is starting, draining or busy; try again.' },
  quota_exceeded: { status: 507, message: 'The tenant has used up its quota. Ask the operator of the server.' },
  insufficient_storage: { status: 507, message: 'The disk is nearly full; the service is read-only.' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorTable

/** Errors whose response has the message in `error` and the code in `code`. */
export const wordedErrors: ReadonlySet<ErrorCode> = new Set(['no_file', 'file_type_not_allowed', 'duplicate_source'])

/** The error class of the service. `details` are further fields of the response. */
export class GanglionError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message?: string, details: Record<string, unknown> = {}) {
    super(message ?? errorTable[code].message)
    this.name = 'GanglionError'
    this.code = code
    this.status = errorTable[code].status
    this.details = details
  }
}

/** Input that does not match its schema. The response is 400 with `{error: {formErrors, fieldErrors}}`. */
export class ValidationError extends Error {
  readonly fieldErrors: Readonly<Record<string, string[]>>
  readonly formErrors: readonly string[]

  constructor(fieldErrors: Record<string, string[]>, formErrors: string[] = []) {
    super('The request is not valid.')
    this.name = 'ValidationError'
    this.fieldErrors = fieldErrors
    this.formErrors = formErrors
  }
}
