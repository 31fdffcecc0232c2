const full = 200

/**
 * Number of kills in a run: 200, or `FAULT_CYCLES`, as in a short run of some minutes. The rounds of the other tests are scaled
 * accordingly.
 */
export const cycles = Number(process.env.FAULT_CYCLES ?? full)

/** The rounds of a test that has `rounds` of them in a full run. */
export function scaled(rounds: number): number {
  return Math.max(1, Math.round((rounds * cycles) / full))
}
