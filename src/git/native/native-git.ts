import { tmpdir } from 'node:os'
import { runGit } from './git-process.ts'

const timeLimitMs = 10_000

let found: Promise<string | undefined> | undefined

/**
 * The version of the machine's git; undefined where there is none. It is looked for once: a process that began with a git is broken
 * without it, and one that began without goes on so. Only clones, pushes and the upkeep of large repositories need it.
 */
export function nativeGit(): Promise<string | undefined> {
  found ??= version()
  return found
}

async function version(): Promise<string | undefined> {
  try {
    const output = await runGit(tmpdir(), ['version'], { signal: AbortSignal.timeout(timeLimitMs) })
    return output.replace(/^git version /, '').trim()
  } catch {
    return undefined
  }
}
