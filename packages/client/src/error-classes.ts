/** Generated from the server's table of errors. */
import { GanglionError } from './ganglion-error.ts'

/** 400 `malformed_request`: The request could not be understood. */
export class MalformedRequestError extends GanglionError {}
/** 400 `reason_required_for_negative_vote`: A vote of `down` or `flag` needs a reason. */
export class ReasonRequiredForNegativeVoteError extends GanglionError {}
/** 400 `no_file`: No file provided */
export class NoFileError extends GanglionError {}
/** 400 `file_type_not_allowed`: File type not allowed */
export class FileTypeNotAllowedError extends GanglionError {}
/** 400 `not_a_source`: The document is a Neuron; only a Source can be ingested. */
export class NotASourceError extends GanglionError {}
/** 401 `invalid_token`: The bearer token is missing or invalid. */
export class InvalidTokenError extends GanglionError {}
/** 401 `sign_in_failed`: The e-mail or the password is wrong. */
export class SignInFailedError extends GanglionError {}
/** 403 `no_role`: You have no role here. Ask an administrator for one. */
export class NoRoleError extends GanglionError {}
/** 403 `insufficient_role`: The role of the API key or person does not allow this. */
export class InsufficientRoleError extends GanglionError {}
/** 403 `tenant_disabled`: The tenant is disabled. Ask the operator of the server. */
export class TenantDisabledError extends GanglionError {}
/** 403 `site_disabled`: This chat is switched off. */
export class SiteDisabledError extends GanglionError {}
/** 403 `stale_form`: The form has expired. Reload the page and submit it again. */
export class StaleFormError extends GanglionError {}
/** 403 `foreign_origin`: The request comes from a page of another site. */
export class ForeignOriginError extends GanglionError {}
/** 404 `not_found`: There is nothing here. */
export class NotFoundError extends GanglionError {}
/** 405 `method_not_allowed`: The method is not allowed here. */
export class MethodNotAllowedError extends GanglionError {}
/** 408 `request_timeout`: The request took too long to arrive. */
export class RequestTimeoutError extends GanglionError {}
/** 409 `not_pending`: The candidate is not pending. */
export class NotPendingError extends GanglionError {}
/** 409 `approval_needed`: Others have to approve this: `owners` and `approvals` in `kb.yaml` say who. */
export class ApprovalNeededError extends GanglionError {}
/** 409 `not_approved`: Only an approved candidate can be reverted. */
export class NotApprovedError extends GanglionError {}
/** 409 `not_dismissed`: Only a dismissed candidate can be reopened. */
export class NotDismissedError extends GanglionError {}
/** 409 `merge_conflict`: The Neuron has changed on `main`, and the changes conflict. */
export class MergeConflictError extends GanglionError {}
/** 409 `target_not_found`: The Neuron that the candidate targets does not exist. */
export class TargetNotFoundError extends GanglionError {}
/** 409 `target_unreadable`: The front matter of the Neuron that is to be changed cannot be read. */
export class TargetUnreadableError extends GanglionError {}
/** 409 `stale_head`: The candidate has changed since it was reviewed. */
export class StaleHeadError extends GanglionError {}
/** 409 `record_full`: The record of the candidate is full. */
export class RecordFullError extends GanglionError {}
/** 409 `not_disabled`: The knowledge base is served. Disable it first. */
export class NotDisabledError extends GanglionError {}
/** 409 `last_administrator`: A tenant needs an administrator. Make another person an administrator first. */
export class LastAdministratorError extends GanglionError {}
/** 409 `already_exists`: It already exists. */
export class AlreadyExistsError extends GanglionError {}
/** 409 `duplicate_source`: The knowledge base already has a Source with the same bytes. */
export class DuplicateSourceError extends GanglionError {}
/** 409 `already_processing`: The Source is being processed. */
export class AlreadyProcessingError extends GanglionError {}
/** 409 `offset_mismatch`: The chunk begins after the received bytes. */
export class OffsetMismatchError extends GanglionError {}
/** 409 `chunk_differs`: The chunk differs from the received bytes. */
export class ChunkDiffersError extends GanglionError {}
/** 409 `upload_finalized`: The upload is finalized. */
export class UploadFinalizedError extends GanglionError {}
/** 410 `link_expired`: The link was already used or has expired. Ask for a new one. */
export class LinkExpiredError extends GanglionError {}
/** 410 `upload_expired`: The upload has expired. */
export class UploadExpiredError extends GanglionError {}
/** 413 `payload_too_large`: The request body is too large. */
export class PayloadTooLargeError extends GanglionError {}
/** 415 `unsupported_media_type`: The content type is not supported. */
export class UnsupportedMediaTypeError extends GanglionError {}
/** 416 `range_not_satisfiable`: The range does not fit the file. */
export class RangeNotSatisfiableError extends GanglionError {}
/** 422 `incomplete`: The upload is incomplete. */
export class IncompleteError extends GanglionError {}
/** 422 `hash_mismatch`: The bytes do not have the announced SHA-256. */
export class HashMismatchError extends GanglionError {}
/** 422 `idempotency_key_reused`: The idempotency key was already used for another request. */
export class IdempotencyKeyReusedError extends GanglionError {}
/** 429 `rate_limited`: Too many requests; try again later. */
export class RateLimitedError extends GanglionError {}
/** 429 `too_many_uploads`: Too many uploads are open. */
export class TooManyUploadsError extends GanglionError {}
/** 429 `queue_full`: The queue of this knowledge base is full. */
export class QueueFullError extends GanglionError {}
/** 431 `header_too_large`: The request headers are too large. */
export class HeaderTooLargeError extends GanglionError {}
/** 500 `internal`: Something went wrong on our side. */
export class InternalError extends GanglionError {}
/** 503 `provider_unavailable`: The single sign-on provider cannot be reached. Try again later, or sign in with a password. */
export class ProviderUnavailableError extends GanglionError {}
/** 503 `unavailable`: The service is starting, draining or busy; try again. */
export class UnavailableError extends GanglionError {}
/** 507 `quota_exceeded`: The tenant has used up its quota. Ask the operator of the server. */
export class QuotaExceededError extends GanglionError {}
/** 507 `insufficient_storage`: The disk is nearly full; the service is read-only. */
export class InsufficientStorageError extends GanglionError {}

/** Status and class by stable code. */
export const errorClasses = {
  malformed_request: [400, MalformedRequestError],
  reason_required_for_negative_vote: [400, ReasonRequiredForNegativeVoteError],
  no_file: [400, NoFileError],
  file_type_not_allowed: [400, FileTypeNotAllowedError],
  not_a_source: [400, NotASourceError],
  invalid_token: [401, InvalidTokenError],
  sign_in_failed: [401, SignInFailedError],
  no_role: [403, NoRoleError],
  insufficient_role: [403, InsufficientRoleError],
  tenant_disabled: [403, TenantDisabledError],
  site_disabled: [403, SiteDisabledError],
  stale_form: [403, StaleFormError],
  foreign_origin: [403, ForeignOriginError],
  not_found: [404, NotFoundError],
  method_not_allowed: [405, MethodNotAllowedError],
  request_timeout: [408, RequestTimeoutError],
  not_pending: [409, NotPendingError],
  approval_needed: [409, ApprovalNeededError],
  not_approved: [409, NotApprovedError],
  not_dismissed: [409, NotDismissedError],
  merge_conflict: [409, MergeConflictError],
  target_not_found: [409, TargetNotFoundError],
  target_unreadable: [409, TargetUnreadableError],
  stale_head: [409, StaleHeadError],
  record_full: [409, RecordFullError],
  not_disabled: [409, NotDisabledError],
  last_administrator: [409, LastAdministratorError],
  already_exists: [409, AlreadyExistsError],
  duplicate_source: [409, DuplicateSourceError],
  already_processing: [409, AlreadyProcessingError],
  offset_mismatch: [409, OffsetMismatchError],
  chunk_differs: [409, ChunkDiffersError],
  upload_finalized: [409, UploadFinalizedError],
  link_expired: [410, LinkExpiredError],
  upload_expired: [410, UploadExpiredError],
  payload_too_large: [413, PayloadTooLargeError],
  unsupported_media_type: [415, UnsupportedMediaTypeError],
  range_not_satisfiable: [416, RangeNotSatisfiableError],
  incomplete: [422, IncompleteError],
  hash_mismatch: [422, HashMismatchError],
  idempotency_key_reused: [422, IdempotencyKeyReusedError],
  rate_limited: [429, RateLimitedError],
  too_many_uploads: [429, TooManyUploadsError],
  queue_full: [429, QueueFullError],
  header_too_large: [431, HeaderTooLargeError],
  internal: [500, InternalError],
  provider_unavailable: [503, ProviderUnavailableError],
  unavailable: [503, UnavailableError],
  quota_exceeded: [507, QuotaExceededError],
  insufficient_storage: [507, InsufficientStorageError],
} as const
