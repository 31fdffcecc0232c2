/**
 * All errors of the API: stable code, HTTP status, default message for a person, and remedy (`docs/errors.md`). The response has the code
 * in `error` and the message in `message`.
 */
export const errorTable = {
  malformed_request: {
    status: 400,
    message: 'The request could not be understood.',
    remedy: 'Read `message`. It names what could not be read, such as JSON that ends early.',
  },
  reason_required_for_negative_vote: {
    status: 400,
    message: 'A vote of `down` or `flag` needs a reason.',
    remedy: 'Send a `reason` that is not blank.',
  },
  no_file: { status: 400, message: 'No file provided', remedy: 'Send `multipart/form-data` with a part named `file`.' },
  file_type_not_allowed: {
    status: 400,
    message: 'File type not allowed',
    remedy: 'Convert the file to one of `allowedTypes`, or let the knowledge base accept its type in `kb.yaml`.',
  },
  not_a_source: {
    status: 400,
    message: 'The document is a Neuron; only a Source can be ingested.',
    remedy: 'Send the id of a Source. A Neuron is changed by a candidate.',
  },
  invalid_token: {
    status: 401,
    message: 'The bearer token is missing or invalid.',
    remedy: 'Send `Authorization: Bearer <key>` with a key that is not revoked and has not expired.',
  },
  sign_in_failed: {
    status: 401,
    message: 'The e-mail or the password is wrong.',
    remedy: 'Check both, or ask an administrator for a link that sets a new password.',
  },
  no_role: {
    status: 403,
    message: 'You have no role here. Ask an administrator for one.',
    remedy: 'Ask an administrator of the tenant for a role.',
  },
  insufficient_role: {
    status: 403,
    message: 'The role of the API key or person does not allow this.',
    remedy: 'Use a key or a person with the role that the operation needs.',
  },
  tenant_disabled: {
    status: 403,
    message: 'The tenant is disabled. Ask the operator of the server.',
    remedy: 'Wait until the operator enables the tenant. Nothing is lost.',
  },
  site_disabled: {
    status: 403,
    message: 'This chat is switched off.',
    remedy: 'Ask a curator to switch the site on.',
  },
  stale_form: {
    status: 403,
    message: 'The form has expired. Reload the page and submit it again.',
    remedy: 'Load the page again, and submit the form again.',
  },
  foreign_origin: {
    status: 403,
    message: 'The request comes from a page of another site.',
    remedy: 'Send the request from a page of the server, or from a program with a key.',
  },
  not_found: {
    status: 404,
    message: 'There is nothing here.',
    remedy: 'Check the path and the ids. What a caller may not see is answered in the same way.',
  },
  method_not_allowed: {
    status: 405,
    message: 'The method is not allowed here.',
    remedy: 'Use a method that the header `Allow` lists.',
  },
  request_timeout: {
    status: 408,
    message: 'The request took too long to arrive.',
    remedy: 'Send the request again. Send a large file in chunks.',
  },
  not_pending: {
    status: 409,
    message: 'The candidate is not pending.',
    remedy: 'Read the candidate: it was decided already. A dismissed one can be reopened.',
  },
  approval_needed: {
    status: 409,
    message: 'Others have to approve this: `owners` and `approvals` in `kb.yaml` say who.',
    remedy: 'Propose the change, and let those in `awaiting` approve the candidate.',
  },
  not_approved: {
    status: 409,
    message: 'Only an approved candidate can be reverted.',
    remedy: 'Dismiss a pending candidate instead.',
  },
  not_dismissed: {
    status: 409,
    message: 'Only a dismissed candidate can be reopened.',
    remedy: 'Read the candidate. An approved one is changed by a correction or reverted.',
  },
  merge_conflict: {
    status: 409,
    message: 'The Neuron has changed on `main`, and the changes conflict.',
    remedy:
      'Read `conflicts`, write the text anew from the current version, and send it with that version as its base.',
  },
  target_not_found: {
    status: 409,
    message: 'The Neuron that the candidate targets does not exist.',
    remedy: 'Check `targetNeuron`, or propose a new Neuron.',
  },
  target_unreadable: {
    status: 409,
    message: 'The front matter of the Neuron that is to be changed cannot be read.',
    remedy: 'Correct the front matter of the Neuron by a push. `ganglion check` names the fault.',
  },
  stale_head: {
    status: 409,
    message: 'The candidate has changed since it was reviewed.',
    remedy:
      'Review the candidate again, and send its present `head` or `ETag`. The status is 412 if the request had `If-Match`.',
  },
  record_full: {
    status: 409,
    message: 'The record of the candidate is full.',
    remedy: 'Decide on the candidate without a comment.',
  },
  not_disabled: {
    status: 409,
    message: 'The knowledge base is served. Disable it first.',
    remedy: 'Disable the knowledge base, and then delete it.',
  },
  last_administrator: {
    status: 409,
    message: 'A tenant needs an administrator. Make another person an administrator first.',
    remedy: 'Make another person an administrator first.',
  },
  already_exists: { status: 409, message: 'It already exists.', remedy: 'Choose another name, or use what is there.' },
  duplicate_source: {
    status: 409,
    message: 'The knowledge base already has a Source with the same bytes.',
    remedy: 'Use the Source `existingDocumentId`, or append `?force=true` to upload the bytes again.',
  },
  already_processing: {
    status: 409,
    message: 'The Source is being processed.',
    remedy: 'Wait for `ingest.completed` or `ingest.failed`.',
  },
  offset_mismatch: {
    status: 409,
    message: 'The chunk begins after the received bytes.',
    remedy: 'Continue at `bytesReceived`.',
  },
  chunk_differs: {
    status: 409,
    message: 'The chunk differs from the received bytes.',
    remedy: 'Compare the file with what was sent. Abandon the upload and begin again if the file has changed.',
  },
  upload_finalized: {
    status: 409,
    message: 'The upload is finalized.',
    remedy: 'Read the Source: it has the id of the upload.',
  },
  link_expired: {
    status: 410,
    message: 'The link was already used or has expired. Ask for a new one.',
    remedy: 'Ask an administrator for a new link.',
  },
  upload_expired: { status: 410, message: 'The upload has expired.', remedy: 'Begin a new upload.' },
  payload_too_large: {
    status: 413,
    message: 'The request body is too large.',
    remedy: 'Send less at once. A file of more than 100 MB is sent in chunks.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The content type is not supported.',
    remedy: 'Send the content type that `message` names, without a `Content-Encoding`.',
  },
  range_not_satisfiable: {
    status: 416,
    message: 'The range does not fit the file.',
    remedy: 'Send `Content-Range: bytes first-last/total` within the announced size.',
  },
  incomplete: {
    status: 422,
    message: 'The upload is incomplete.',
    remedy: 'Send the rest from `bytesReceived` on, and finalize again.',
  },
  hash_mismatch: {
    status: 422,
    message: 'The bytes do not have the announced SHA-256.',
    remedy: 'Compare the file with the announced hash, and upload it again.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'The idempotency key was already used for another request.',
    remedy: 'Use a new `Idempotency-Key` for each different request.',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests; try again later.',
    remedy: 'Wait for the seconds in `Retry-After`.',
  },
  too_many_uploads: {
    status: 429,
    message: 'Too many uploads are open.',
    remedy: 'Finalize or abandon an open upload first.',
  },
  queue_full: {
    status: 429,
    message: 'The queue of this knowledge base is full.',
    remedy: 'Wait until curators have decided on some candidates.',
  },
  header_too_large: { status: 431, message: 'The request headers are too large.', remedy: 'Send shorter headers.' },
  internal: {
    status: 500,
    message: 'Something went wrong on our side.',
    remedy: 'Send the request again later. Tell the operator its `x-request-id`.',
  },
  provider_unavailable: {
    status: 503,
    message: 'The single sign-on provider cannot be reached. Try again later, or sign in with a password.',
    remedy: 'Try again later, or sign in with a password.',
  },
  unavailable: {
    status: 503,
    message: 'The service is starting, draining or busy; try again.',
    remedy: 'Send the request again after the seconds in `Retry-After`.',
  },
  quota_exceeded: {
    status: 507,
    message: 'The tenant has used up its quota. Ask the operator of the server.',
    remedy: 'Delete what is not needed, or ask the operator for a larger quota.',
  },
  insufficient_storage: {
    status: 507,
    message: 'The disk is nearly full; the service is read-only.',
    remedy: 'Ask the operator to free space on the disk. Reads go on.',
  },
} as const satisfies Record<string, { status: number; message: string; remedy: string }>

export type ErrorCode = keyof typeof errorTable

/** Errors whose response has the message in `error` and the code in `code`. */
export const wordedErrors: ReadonlySet<ErrorCode> = new Set(['no_file', 'file_type_not_allowed', 'duplicate_source'])

/** Error with a stable code and a status of the API. `details`: further fields of the response. */
export class GanglionError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message?: string, details: Record<string, unknown> = {}) {
    super(message ?? errorTable[code].message)
    this.code = code
    this.status = errorTable[code].status
    this.details = details
  }
}

/** Returns a handler for `catch`: it maps a refusal with one of the codes, or with any code if none is given, to undefined, and rethrows other errors. */
export function undefinedOn(...codes: readonly ErrorCode[]): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof GanglionError && (codes.length === 0 || codes.includes(error.code)))) throw error
  }
}

/** Thrown for input that does not match its schema. The response is 400 with `{error: {formErrors, fieldErrors}}`. */
export class ValidationError extends Error {
  readonly fieldErrors: Readonly<Record<string, string[]>>
  readonly formErrors: readonly string[]

  constructor(fieldErrors: Record<string, string[]>, formErrors: string[] = []) {
    super('The request is not valid.')
    this.fieldErrors = fieldErrors
    this.formErrors = formErrors
  }
}
