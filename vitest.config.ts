import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/faults/**', 'test/client/**', 'test/browser/**'],
    globalSetup: 'test/support/left-out.ts',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
  },
})
