import { defineConfig, mergeConfig } from 'vitest/config'
import shared from './vitest.shared.ts'

/** Tests of the console in a real browser; they need Chromium. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: ['test/browser/**/*.test.ts'],
      testTimeout: 120_000,
      hookTimeout: 120_000,
      // Half of the time is waiting for pages to come to rest.
      maxWorkers: 2,
    },
  }),
)
