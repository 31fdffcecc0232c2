import { defineConfig } from 'vitest/config'

/** Tests of the API's description by tools of others, which test/client installs for itself. */
export default defineConfig({
  test: {
    include: ['test/client/**/*.test.ts'],
    testTimeout: 120_000,
    fileParallelism: false,
    pool: 'forks',
  },
})
