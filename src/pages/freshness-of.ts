import type { Neuron } from '../contract/neurons.ts'
import type { NeuronRow } from '../kb/projection/neuron-queries.ts'
import { isPastDate, type VerifyRule } from '../rules/freshness.ts'

/** What an answer says of when a page was verified. */
export function freshnessOf(
  row: Pick<NeuronRow, 'path' | 'tags' | 'updatedAt' | 'verified' | 'owner'>,
  rules: readonly VerifyRule[],
  now: Date,
): Pick<Neuron, 'verified' | 'owner' | 'stale'> {
  const { verified, owner } = row
  return {
    ...(verified && { verified }),
    ...(owner !== null && { owner }),
    ...(isPastDate(row, rules, now) && { stale: true as const }),
  }
}
