import { z } from 'zod'
import { KbId } from '../../contract/identifiers.ts'

export const KbParams = z.object({ kb: KbId })

/** A whole number from 1 in the query. */
export const WholeNumber = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'must be a number')
  .transform(Number)

/** A field of a filter in the query. An empty one asks for nothing. */
export function filter<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === '' ? undefined : value), schema.optional())
}

export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? path : `${path}?${parameters}`
}
