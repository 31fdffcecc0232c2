import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig } from 'vitest/config'
import shared from './vitest.shared.ts'

/** Seconds for which many nodes work while their parts fail. */
const seconds = Number(process.env.CLUSTER_SECONDS ?? 600)
/**
 * Left out of a short run: what takes long, such as the installation of an object store, and tests of what does not know the kind of
 * server, since it only asks services that other tests ask, too.
 */
const long =
  seconds < 120
    ? [
        'test/cluster/parts/swift.test.ts',
        'test/e2e/{chat,llms,mcp,meaning,reading,sessions,twins,webhooks}.test.ts',
        'test/e2e/{forge/*,git/git-{hostile,identity,forge-mirror}}.test.ts',
      ]
    : []

/**
 * Tests with real parts, which they start themselves: PostgreSQL, load balancers, and in the long run an object store. Those of many
 * nodes, and once more those of the stores, and those of the whole product, whose servers are then nodes of a cluster. The tests of
 * routes (test/http) have services in memory, so they know of no kind of server.
 */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: ['test/state/**/*.test.ts', 'test/cluster/**/*.test.ts', 'test/e2e/**/*.test.ts'],
      exclude: [
        'test/state/{sqlite,directory/*,blobs,projection,api-token,revised-cache}.test.ts',
        'test/e2e/uploads/torn-upload.test.ts', // of files that only a server with everything in its own folder has
        ...long,
      ],
      globalSetup: 'test/support/postgres-setup.ts',
      testTimeout: 180_000,
      maxWorkers: Math.max(2, availableParallelism()),
    },
  }),
)
