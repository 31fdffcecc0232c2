import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig } from 'vitest/config'
import shared from './vitest.shared.ts'

/** Seconds for which many nodes work while their parts fail. A short run leaves out the object store, which takes long to install. */
const seconds = Number(process.env.CLUSTER_SECONDS ?? 600)
const swift = seconds < 120 ? ['test/cluster/parts/swift.test.ts'] : []

/**
 * Tests with real parts, which they start themselves: PostgreSQL, load balancers, and in the long run an object store. Those of the
 * stores once more, and those of many nodes.
 */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: ['test/store/**/*.test.ts', 'test/cluster/**/*.test.ts'],
      exclude: [
        'test/store/{sqlite,data-directory,directory-lock,blobs,projection,api-token,revised-cache}.test.ts',
        ...swift,
      ],
      globalSetup: 'test/support/postgres-setup.ts',
      testTimeout: 60_000,
      maxWorkers: Math.max(2, availableParallelism()),
    },
  }),
)
