import { seeded } from '../support/seeded.ts'
import { mean } from './metrics.ts'

const rounds = 10_000

/**
 * Returns the two-sided p-value of the mean over collections of the mean difference over their queries: how often it is at least as
 * far from 0 when the sign of each difference is a coin toss (Fisher's randomisation test; Smucker, Allan and Carterette, "A
 * Comparison of Statistical Significance Tests for Information Retrieval Evaluation", 2007). The same differences give the same value.
 * @param differences by collection, then by query
 */
export function randomisationTest(differences: readonly (readonly number[])[]): number {
  const random = seeded(1)
  const observed = Math.abs(mean(differences.map(mean)))
  let asFar = 0
  for (let round = 0; round < rounds; round++) {
    const tossed = mean(differences.map((ofOne) => mean(ofOne.map((value) => (random() < 0.5 ? value : -value)))))
    // Sums in another order differ in the last digits.
    if (Math.abs(tossed) >= observed - 1e-12) asFar++
  }
  return (asFar + 1) / (rounds + 1)
}
