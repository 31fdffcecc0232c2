import { GanglionError, ValidationError } from '../../contract/errors.ts'
import type { FormErrors } from '../layout/form.ts'

export type UploadAttempt = {
  path: string
  replace: boolean
  errors: FormErrors
  /** The Source that has the same bytes. */
  duplicate?: { id: string; filename: string } | undefined
}

/** Errors of a file that a person can do something about, beside the file's field. */
const ofFile: ReadonlySet<string> = new Set([
  'no_file',
  'file_type_not_allowed',
  'payload_too_large',
  'duplicate_source',
])

/** An upload that was refused, to be shown with its form. Throws errors that say nothing of the form. */
export function refusedUpload(error: unknown, fields: ReadonlyMap<string, string>): UploadAttempt & { status: number } {
  const typed = { path: fields.get('path') ?? '/', replace: fields.get('replace') === 'true' }
  if (error instanceof ValidationError) {
    const { fieldErrors, formErrors } = error
    return { ...typed, errors: { fieldErrors, formErrors }, status: 400 }
  }
  if (!(error instanceof GanglionError) || !ofFile.has(error.code)) throw error
  const { existingDocumentId: id, existingFilename: filename } = error.details
  const duplicate = typeof id === 'string' && typeof filename === 'string' ? { id, filename } : undefined
  return { ...typed, errors: { fieldErrors: { file: [error.message] } }, duplicate, status: error.status }
}
