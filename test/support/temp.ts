import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new folder of the running test's own, gone after it. */
export function tempDir(): string {
  const path = mkdtempSync(join(tmpdir(), 'ganglion-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}
