import { defineConfig } from 'vitest/config'

/** Tests of the console in a real browser; they need Chromium. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    pool: 'forks',
  },
})
