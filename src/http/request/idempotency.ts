import { z } from 'zod'

/** Headers of a route that creates something. */
export const IdempotencyHeader = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
    .describe('The same key within 24 hours gives the first answer again.')
    .exactOptional(),
})
type IdempotencyHeader = z.output<typeof IdempotencyHeader>

/** The key, as services take it. */
export function idempotencyOf({ 'idempotency-key': key }: IdempotencyHeader): { idempotencyKey?: string } {
  return key === undefined ? {} : { idempotencyKey: key }
}
