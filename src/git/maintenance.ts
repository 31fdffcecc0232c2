import { readdir, stat, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { longTimeLimit, nativeGit, runGit } from './native/git-process.ts'
import { consolidatePacks } from './objects/pack-files.ts'
import { clearPackedRefsLock, clearStaleLock } from './refs/refs.ts'

export type RepositoryLoad = {
  /** Number of packs that may be repacked. Each batch of writes adds one. */
  packs: number
  /** Number of loose objects, estimated from one of their 256 folders, as git does. */
  looseObjects: number
}

/** Milliseconds after which temporary files of maintenance count as abandoned. */
const abandonedAfterMs = 60 * 60_000

/** Returns the numbers of packs and loose objects since the last consolidation of a repository. */
export async function repositoryLoad(gitDir: string): Promise<RepositoryLoad> {
  const names = async (...path: string[]) => readdir(join(gitDir, 'objects', ...path)).catch(() => [])
  const files = new Set(await names('pack'))
  const packs = [...files].filter((name) => name.endsWith('.pack') && !files.has(name.replace(/pack$/, 'keep'))).length
  return { packs, looseObjects: (await names('17')).length * 256 }
}

/** Settings for reading each pack once, where a large cache of windows is useless. */
const littleMapped = ['-c', 'core.packedGitWindowSize=8m', '-c', 'core.packedGitLimit=64m']
const rollUp = [...littleMapped, 'repack', '--quiet', '-d', '-l', '--geometric=2']
/** Attributes for new pages; the folder is next to both `src/` and `dist/`. */
const newPages = fileURLToPath(new URL('../../hooks/new-pages.gitattributes', import.meta.url))

/**
 * Consolidates the packs of an import, whose pages each have their own versions of the same folders. Does nothing without native git:
 * only clones benefit, which need git.
 * @throws {GitError} `git-failed`
 */
export async function consolidateImport(gitDir: string): Promise<void> {
  if ((await nativeGit()) === undefined) return
  await runGit(gitDir, ['-c', `core.attributesFile=${newPages}`, ...rollUp], { timeLimit: longTimeLimit })
}

/**
 * Merges small packs and loose objects into larger packs (geometrically, leaving the large ones alone), writes the
 * commit-graph with changed-path filters, and packs refs. Does not touch concurrent writes: git deletes only the merged
 * packs, and keeps their objects, reachable or not. Without native git, it only merges packs: see {@link
 * consolidatePacks}.
 * @throws {GitError} `git-failed`, also if `signal` ends it
 */
export async function consolidate(gitDir: string, signal: AbortSignal): Promise<void> {
  if ((await nativeGit()) === undefined) return consolidatePacks(gitDir, signal)
  await clearOldLocks(gitDir)
  const background = { signal, priority: constants.priority.PRIORITY_LOW, timeLimit: longTimeLimit }
  await runGit(gitDir, rollUp, background)
  await writeCommitGraph(gitDir, '--split', background)
  await runGit(gitDir, ['pack-refs', '--all'], background)
}

/**
 * Writes the graph for branches and the queue only. Heads of candidates would stay in the graph after their commits are gone,
 * which git's fsck reports. The graph of `gc` would also contain them.
 */
async function writeCommitGraph(
  gitDir: string,
  split: '--split' | '--split=replace',
  background: { signal: AbortSignal; priority: number },
): Promise<void> {
  await runGit(gitDir, ['config', 'gc.writeCommitGraph', 'false'], background)
  const input = await runGit(
    gitDir,
    ['for-each-ref', '--format=%(objectname)', 'refs/heads', 'refs/ganglion'],
    background,
  )
  await runGit(gitDir, ['commit-graph', 'write', '--stdin-commits', '--changed-paths', split], { ...background, input })
}

/** Age after which unreachable objects, such as old heads of candidates, are pruned. */
const kept = '1.day.ago'
const pruneEveryMs = 24 * 60 * 60_000
const prunedMarker = 'ganglion-pruned'

/** True if a repository was last pruned more than a day ago. Without native git, repositories are not pruned. */
export async function isPruneDue(gitDir: string, now = Date.now()): Promise<boolean> {
  if ((await nativeGit()) === undefined) return false
  const pruned = await stat(join(gitDir, prunedMarker)).catch(() => undefined)
  return pruned === undefined || now - pruned.mtimeMs > pruneEveryMs
}

/**
 * Repacks a repository and removes objects that have been unreachable for a day. Objects of concurrent pushes and writes are
 * younger, or in a pack with a `.keep` file.
 * @throws {GitError} `git-failed`, also if `signal` ends it
 */
export async function prune(gitDir: string, signal: AbortSignal): Promise<void> {
  await clearOldLocks(gitDir)
  const cruft = ['--cruft', `--cruft-expiration=${kept}`]
  const background = { signal, priority: constants.priority.PRIORITY_LOW, timeLimit: longTimeLimit }
  await runGit(gitDir, [...littleMapped, 'repack', '--quiet', '-d', '-l', ...cruft], background)
  await runGit(gitDir, ['prune', `--expire=${kept}`], background) // Expired loose objects are in no pack.
  await writeCommitGraph(gitDir, '--split=replace', background)
  await writeFile(join(gitDir, prunedMarker), '')
}

/** Removes lock files of a killed git, which would block the same work forever. */
async function clearOldLocks(gitDir: string): Promise<void> {
  await clearPackedRefsLock(gitDir, abandonedAfterMs)
  await clearStaleLock(join(gitDir, 'objects/info/commit-graphs/commit-graph-chain.lock'), abandonedAfterMs)
}
