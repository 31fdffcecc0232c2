import { z } from 'zod'

export const IdempotencyHeader = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
    .describe(
      '1 to 255 visible ASCII characters. Within 24 hours, a repeated request with this key returns the first response.',
    )
    .exactOptional(),
})
type IdempotencyHeader = z.output<typeof IdempotencyHeader>

export function idempotencyOf({ 'idempotency-key': key }: IdempotencyHeader): { idempotencyKey?: string } {
  return key === undefined ? {} : { idempotencyKey: key }
}
