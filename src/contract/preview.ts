import { z } from 'zod'

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
/** Pattern of the id of a candidate, or of a commit that its ref names. */
const proposal = `(?:${uuid}|[0-9a-f]{40})`
export const maxPreviewed = 10
const effect =
  'Curators only: answers as if these pending candidates were approved now, in this order. At most 10 ids of candidates, or of ' +
  'commits of `refs/candidates/…`, which stand for their candidates as they are now. Others get 404, as for a candidate that ' +
  'does not exist; one that is decided gets `not_pending`.'

/** Candidates to preview, in a query string. */
export const PreviewParameter = z
  .string()
  .regex(new RegExp(`^${proposal}(?:,${proposal}){0,${maxPreviewed - 1}}$`), 'must be 1 to 10 ids, with commas between')
  .transform((ids) => ids.split(','))
  .describe(`${effect} With commas between.`)
  .meta({ type: 'string' })
  .exactOptional()

/** Candidates to preview, in a body. */
export const PreviewField = z
  .array(z.string().regex(new RegExp(`^${proposal}$`), 'must be the id of a candidate or a commit'))
  .min(1)
  .max(maxPreviewed)
  .describe(effect)
  .exactOptional()

export const Preview = z
  .object({
    candidates: z.array(z.uuid()).describe('UUIDs of the candidates, in the order in which they are laid over `main`.'),
    conflicts: z
      .array(
        z.object({
          candidateId: z.uuid().describe('UUID of the candidate.'),
          error: z.string().describe('What an approval would fail with, such as `merge_conflict`.'),
          message: z.string().describe('The error for a person.'),
        }),
      )
      .describe('Candidates that could not be approved, and that the answer is without.'),
  })
  .meta({ id: 'Preview' })
export type Preview = z.infer<typeof Preview>

/** Preview that an answer is based on. */
export const Previewed = Preview.describe('What is previewed. Absent without `preview`.').exactOptional()
