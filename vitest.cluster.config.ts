import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig } from 'vitest/config'
import shared from './vitest.shared.ts'

/** Tests with a real PostgreSQL, which they start themselves: those of the stores once more, and those of many nodes. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: ['test/store/**/*.test.ts', 'test/cluster/**/*.test.ts'],
      exclude: ['test/store/{sqlite,data-directory,directory-lock,blobs,projection,api-token,revised-cache}.test.ts'],
      globalSetup: 'test/support/postgres-setup.ts',
      testTimeout: 60_000,
      maxWorkers: Math.max(2, availableParallelism()),
    },
  }),
)
