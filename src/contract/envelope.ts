import { z } from 'zod'
import { ValidationError } from './errors.ts'
import { ObjectId } from './identifiers.ts'

/** Faults of a request that does not match its schema. */
const ValidationDetails = z
  .object({
    formErrors: z.array(z.string()).describe('Faults of the request as a whole.'),
    fieldErrors: z.record(z.string(), z.array(z.string())).describe('Faults by the name of the field.'),
  })
  .meta({
    id: 'ValidationDetails',
    examples: [{ formErrors: [], fieldErrors: { title: ['must be given'] } }],
  })

/** Lines of a Neuron that both sides changed differently. */
export const MergeConflict = z
  .object({
    line: z.int().positive().describe('First line of the conflict in the current text; starts at 1.'),
    base: z.string().describe('The lines in the version that both sides changed.'),
    current: z.string().describe('The lines on `main`.'),
    proposed: z.string().describe('The lines in the proposal.'),
  })
  .meta({ id: 'MergeConflict' })

/** Approvals that a commit on `main` still needs. */
export const Awaiting = z
  .object({
    votes: z.int().min(0).describe('Approvals that are missing.'),
    owners: z
      .array(z.array(z.string()))
      .describe('Owners whose approval is missing: of each list, that of one. E-mails of people and names of keys.'),
  })
  .meta({ id: 'Awaiting', description: 'What `owners` and `approvals` in `kb.yaml` still ask for.' })
export type Awaiting = z.infer<typeof Awaiting>

/** Schema of the body of every unsuccessful response. Each optional field names the errors it belongs to. */
export const ErrorAnswer = z
  .object({
    error: z
      .union([z.string(), ValidationDetails])
      .describe('Stable code of the error, or the faults by field if the request does not match its schema.'),
    message: z.string().describe('Message for a person; the wording may change.').exactOptional(),
    conflicts: z.array(MergeConflict).describe('With `merge_conflict`: the lines in conflict.').exactOptional(),
    commit: ObjectId.describe("With `merge_conflict`: the commit of the Neuron's current version.").exactOptional(),
    head: ObjectId.nullable()
      .describe('With `stale_head`: the current commit of `refs/candidates/<id>/head`. Null if the ref does not exist.')
      .exactOptional(),
    awaiting: Awaiting.describe('With `approval_needed`: what is missing.').exactOptional(),
    problems: z
      .array(
        z.object({
          part: z.string().describe('Name of the broken part of the server.'),
          reason: z.string().describe('Cause, for a person.'),
        }),
      )
      .describe('With `unavailable` of `/readyz`: the parts that do not work.')
      .exactOptional(),
    code: z.string().describe('Stable code of an upload error whose `error` is a sentence.').exactOptional(),
    allowedTypes: z
      .array(z.string())
      .describe('With `file_type_not_allowed`: the file extensions that the knowledge base accepts.')
      .exactOptional(),
    bytesReceived: z
      .int()
      .nonnegative()
      .describe('With errors of an upload in chunks: offset of the next chunk, in bytes.')
      .exactOptional(),
  })
  .meta({ id: 'Error', examples: [{ error: 'not_found', message: 'There is nothing here.' }] })

/** Size of a page, from the text of a query string. */
export const PageLimit = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, 'must be a whole number from 1 to 100')
  .transform(Number)
  .pipe(z.int().max(100, 'must be a whole number from 1 to 100'))
  .default(50)
  .meta({ type: 'integer', minimum: 1, maximum: 100, description: 'Maximum number of results, 1 to 100. Default: 50.' })

export const Cursor = z.string().min(1).max(500).describe('`nextCursor` of the previous page.')
export const NextCursor = z
  .string()
  .nullable()
  .describe('Send it as `cursor` to get the next page. Null on the last page.')

/** A boolean in a query string. */
export const Switch = z.enum(['true', 'false']).transform((text) => text === 'true')

/** Encodes the position of the next page as an opaque cursor. */
export function encodeCursor(place: string): string {
  return Buffer.from(place).toString('base64url')
}

/** Decodes the position in a cursor. @throws {ValidationError} if no page has this position */
export function decodeCursor(cursor: string, isPlace: (place: string) => boolean): string {
  const place = Buffer.from(cursor, 'base64url').toString()
  if (!isPlace(place)) throw new ValidationError({ cursor: ['must come from an earlier answer'] })
  return place
}
