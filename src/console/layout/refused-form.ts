import { z } from 'zod'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import type { FormErrors } from './form.ts'

/** What a form sent, as it was typed. A field that was sent twice counts once. */
export const FormFields = z.record(
  z.string(),
  z.union([z.string(), z.array(z.string()).transform(([first = '']) => first)]),
)
export type FormFields = z.output<typeof FormFields>

/** Why a form was refused, to be shown with it. Throws errors that are not of the form. */
export function refusedForm(error: unknown): { status: number; errors: FormErrors } {
  if (error instanceof ValidationError) return { status: 400, errors: error }
  if (!(error instanceof GanglionError) || error.status >= 500) throw error
  return { status: error.status, errors: { formErrors: [error.message] } }
}
