import { accessSync, constants, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// For the workers, and for the programs that a global setup starts.
Object.assign(process.env, temporaryFiles())

/** What the configurations share whose tests run the product in their own process. */
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
    // Of what hangs. A busy machine may take long for what usually takes a second.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // A worker loads the modules once, not for each file. So a file must leave them, and the process, as they were.
    isolate: false,
    // Tests make much garbage that is short-lived: the larger the young generation is, the less of it is copied.
    execArgv: ['--max-semi-space-size=64'],
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
  },
})

/**
 * Keeps temporary files in memory if the system has a folder for that, because the product flushes every write. In a container it
 * often has 64 MB, which is too little.
 */
function temporaryFiles(): Record<string, string> {
  const memory = '/dev/shm'
  const leastBytes = 2 ** 31
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize < leastBytes ? {} : { TMPDIR: memory }
  } catch {
    return {}
  }
}
