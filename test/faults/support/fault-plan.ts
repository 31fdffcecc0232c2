import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { tempDir } from '../../support/temp.ts'
import type { Plan } from './failing-fs.ts'

const preload = pathToFileURL(fileURLToPath(new URL('./failing-fs.ts', import.meta.url))).href

export type Faults = { env: Record<string, string>; begin(): void; cease(): void }

/** A broken file system below `repos`, for a process that gets `env`; it is whole until told to begin. */
export function planFaults(plan: Omit<Plan, 'below' | 'switch'>): Faults {
  const file = join(tempDir(), 'broken')
  const env = {
    NODE_OPTIONS: `--import=${preload}`,
    FAILING_FS: JSON.stringify({ below: 'repos', switch: file, ...plan } satisfies Plan),
    GANGLION_LOG_LEVEL: 'silent',
  }
  return {
    env,
    begin: () => writeFileSync(file, ''),
    cease: () => rmSync(file, { force: true }),
  }
}
