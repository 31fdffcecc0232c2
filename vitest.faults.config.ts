import { defineConfig } from 'vitest/config'

/** Tests that kill, cut off and fill up: one at a time, since they need the machine, and with as long as they take. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    testTimeout: 45 * 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    pool: 'forks',
  },
})
