import { z } from 'zod'
import { ObjectId } from './identifiers.ts'

/** What a schema found wrong: of the whole, and by field. */
const ValidationDetails = z
  .object({
    formErrors: z.array(z.string()),
    fieldErrors: z.record(z.string(), z.array(z.string())),
  })
  .meta({
    id: 'ValidationDetails',
    examples: [{ formErrors: [], fieldErrors: { title: ['Invalid input: expected string, received undefined'] } }],
  })

/** Lines of a Neuron that have changed on both sides, each in its own way. */
export const MergeConflict = z
  .object({
    line: z.int().positive().describe('1-based, in the current text.'),
    base: z.string(),
    current: z.string(),
    proposed: z.string(),
  })
  .meta({ id: 'MergeConflict' })

/** The body of every answer that is not a success. Which fields stand beside which errors, they say. */
export const ErrorAnswer = z
  .object({
    error: z
      .union([z.string(), ValidationDetails])
      .describe('A stable code; where the request fails its schema, what is wrong with it.'),
    message: z.string().describe('For a person; may change.').exactOptional(),
    conflicts: z.array(MergeConflict).describe('With `merge_conflict`.').exactOptional(),
    commit: ObjectId.describe("With `merge_conflict`: the commit of the Neuron's present version.").exactOptional(),
    head: ObjectId.nullable()
      .describe('With `stale_head`: the present commit of `refs/candidates/<id>/head`. Null where there is none.')
      .exactOptional(),
    problems: z
      .array(z.object({ part: z.string(), reason: z.string() }))
      .describe('Of `/readyz`: what is broken, and why.')
      .exactOptional(),
    code: z.string().describe('Of an upload whose `error` is for a person: its stable code.').exactOptional(),
    allowedTypes: z
      .array(z.string())
      .describe('With `file_type_not_allowed`: the extensions that are taken.')
      .exactOptional(),
    bytesReceived: z.int().nonnegative().describe('Of an upload in chunks: where it goes on.').exactOptional(),
  })
  .meta({ id: 'Error', examples: [{ error: 'not_found', message: 'There is nothing here.' }] })

/** How a listing is paged: a whole number as text, since a query string holds nothing else. */
export const PageLimit = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, 'must be a whole number from 1 to 100')
  .transform(Number)
  .pipe(z.int().max(100, 'must be a whole number from 1 to 100'))
  .default(50)
  .meta({ type: 'integer', minimum: 1, maximum: 100 })

/** Where a listing goes on: what an earlier answer gave as `nextCursor`. */
export const Cursor = z.string().min(1).max(500)

/** Yes or no in a query string. */
export const Switch = z.enum(['true', 'false']).transform((text) => text === 'true')
