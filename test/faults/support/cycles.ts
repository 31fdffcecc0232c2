const full = 200

/**
 * How often the server is killed in a run: 200 times, or `FAULT_CYCLES` times, as in a short run of some minutes. The
 * rounds of the other tests are scaled along.
 */
export const cycles = Number(process.env.FAULT_CYCLES ?? full)

/** The rounds of a test that has `rounds` of them in a full run. */
export function scaled(rounds: number): number {
  return Math.max(1, Math.round((rounds * cycles) / full))
}
