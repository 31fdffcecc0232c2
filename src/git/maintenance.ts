import { readdir, stat, unlink } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { GitError } from './git-error.ts'
import { ended, spawnGit } from './git-process.ts'

export type RepositoryLoad = {
  /** Packs: each batch of writes adds one. */
  packs: number
  /** Loose objects, estimated from one of their 256 folders, as git does. */
  looseObjects: number
}

/** No maintenance takes as long as this. */
const abandonedAfterMs = 60 * 60_000

/** Memory for pack-objects is bounded, whatever the machine has. */
const bounds = ['-c', 'pack.threads=1', '-c', 'pack.windowMemory=64m', '-c', 'pack.deltaCacheSize=64m']

/** How much a repository has gathered since it was last consolidated. */
export async function repositoryLoad(gitDir: string): Promise<RepositoryLoad> {
  const names = async (...path: string[]) => readdir(join(gitDir, 'objects', ...path)).catch(() => [])
  const packs = (await names('pack')).filter((name) => name.endsWith('.pack')).length
  return { packs, looseObjects: (await names('17')).length * 256 }
}

/**
 * Rolls small packs and loose objects up into larger packs (geometrically, so that the large ones are left alone), writes
 * the commit-graph with changed-path filters, and packs refs. Nothing that is being written meanwhile is touched: git
 * deletes only the packs that it has rolled up, with all that was in them kept, reachable or not.
 * @throws {GitError} `git-failed`, also when `signal` ends it.
 */
export async function consolidate(gitDir: string, signal: AbortSignal): Promise<void> {
  await clearOldLocks(gitDir)
  await runInBackground(gitDir, [...bounds, 'repack', '--quiet', '-d', '-l', '--geometric=2'], signal)
  await runInBackground(gitDir, ['commit-graph', 'write', '--reachable', '--changed-paths', '--split'], signal)
  await runInBackground(gitDir, ['pack-refs', '--all'], signal)
}

/** What a git that was killed in the middle of the same work leaves behind, and what would keep it from ever being done again. */
async function clearOldLocks(gitDir: string): Promise<void> {
  for (const lock of ['packed-refs.lock', 'objects/info/commit-graphs/commit-graph-chain.lock']) {
    const path = join(gitDir, lock)
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined && Date.now() - found.mtimeMs > abandonedAfterMs) await unlink(path).catch(() => {})
  }
}

async function runInBackground(gitDir: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const child = spawnGit(gitDir, args)
  const stop = () => child.kill('SIGTERM')
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended already.
  }
  child.stdin.end()
  child.stdout.resume()
  try {
    const [complaint] = await Promise.all([text(child.stderr), ended(child)])
    if (child.exitCode !== 0) throw new GitError('git-failed', `git ${args.join(' ')}: ${complaint}`)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
