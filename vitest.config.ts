import { accessSync, constants } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

/**
 * Folders whose files share workers. A worker keeps what its files have loaded and left, and the more memory it has, the longer
 * each start of a git takes. So an area is kept to a part of the tests.
 */
const areas: Record<string, string[]> = {
  services: ['test/services/**'],
  http: ['test/http/**'],
  e2e: ['test/e2e/**'],
  console: ['test/console/**'],
  search: [
    'test/search/**',
    'test/markdown/**',
    'test/chat/**',
    'test/knowledge/**',
    'test/compare/**',
    'test/models/**',
    'test/bench/**',
  ],
  rest: ['test/git/**', 'test/cli/**', 'test/store/**', 'test/ingest/**'],
}

export default defineConfig({
  plugins: [
    {
      // Takes the builds of packages that the product takes. Vite would take those for development, which are half as fast.
      name: 'published-builds',
      configResolved({ ssr, environments }) {
        for (const { resolve } of [ssr, ...Object.values(environments)]) {
          if (resolve?.conditions === undefined) continue
          resolve.conditions = resolve.conditions.filter((condition) => condition !== 'development|production')
        }
      },
    },
  ],
  test: {
    globalSetup: 'test/support/left-out.ts',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    // A worker loads the modules once, not for each file. So a file must leave them, and the process, as they were.
    isolate: false,
    maxWorkers: Math.max(2, availableParallelism()),
    // A small process: the larger it is, the longer it takes to start a git.
    execArgv: ['--heap-growing-percent=30', '--max-semi-space-size=8'],
    env: { ...temporaryFiles(), NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
    projects: Object.entries(areas).map(
      ([name, folders]): TestProjectInlineConfiguration => ({
        extends: true,
        test: { name, include: folders.map((folder) => `${folder}/*.test.ts`) },
      }),
    ),
  },
})

/** Keeps temporary files in memory if the system has a folder for that, because the product flushes every write. */
function temporaryFiles(): Record<string, string> {
  const memory = '/dev/shm'
  try {
    accessSync(memory, constants.W_OK)
    return { TMPDIR: memory }
  } catch {
    return {}
  }
}
