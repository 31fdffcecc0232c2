import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig } from 'vitest/config'
import shared from './vitest.shared.ts'

/** What is served on a machine that has no git: everything but clones and pushes. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: ['test/{http,e2e}/**/*.test.ts', 'test/services/{backup,verify,rebuild,candidate-refs}.test.ts'],
      exclude: ['test/http/git/**', 'test/e2e/{git*,forge-bundles,forge-faults}.test.ts'],
      setupFiles: ['test/support/without-git.ts'],
      maxWorkers: Math.max(2, availableParallelism()),
    },
  }),
)
