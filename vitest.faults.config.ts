import { defineConfig } from 'vitest/config'

/** Left out of a short run, since `npm test` has a short form of it. */
const long = Number(process.env.FAULT_CYCLES ?? 200) < 100 ? ['test/faults/forge-calls.test.ts'] : []

/** Tests that kill, cut off and fill up: one at a time, since they need the machine, and with as long as they take. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    exclude: long,
    testTimeout: 45 * 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    pool: 'forks',
  },
})
