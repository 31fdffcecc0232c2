import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { GitError } from '../git-error.ts'
import { tryGit } from '../git-process.ts'
import type { Oid } from '../objects/object.ts'
import { clearPackedRefsLock, isStale, staleLockAfterMs, unlessMissing } from './stale-lock.ts'

const patienceMs = 15_000
const betweenAttemptsMs = 200

/**
 * Moves many refs below one folder, which are derived from something else: whatever they hold gives way. Of what is made or
 * moved nothing is flushed to the disk: a power cut may lose it, or leave files that {@link clearBrokenRefs} removes.
 * @param changes what each ref is to hold; undefined: it goes.
 * @throws {GitError} `lock-held` where another writer keeps one of them for long, `git-failed`.
 */
export async function moveDerivedRefs(
  gitDir: string,
  folder: string,
  changes: ReadonlyMap<string, Oid | undefined>,
): Promise<void> {
  const commands = (isWanted: (to: Oid | undefined) => boolean) =>
    [...changes]
      .filter(([, to]) => isWanted(to))
      .map(([ref, to]) => (to === undefined ? `delete ${ref}\0\0` : `update ${ref}\0${to}\0\0`))
      .join('')
  // Removal first, out of the way of names that lie below; it may rewrite `packed-refs`, which holds others' refs too.
  await transact(
    gitDir,
    folder,
    'all',
    commands((to) => to === undefined),
  )
  await transact(
    gitDir,
    folder,
    'none',
    commands((to) => to !== undefined),
  )
}

async function transact(gitDir: string, folder: string, fsync: 'all' | 'none', commands: string): Promise<void> {
  if (commands === '') return
  const until = Date.now() + patienceMs
  for (;;) {
    // What a ref names, were it symbolic, is not ours to move.
    const args = ['-c', `core.fsync=${fsync}`, 'update-ref', '--no-deref', '-z', '--stdin']
    const { exitCode, complaint } = await tryGit(gitDir, args, { input: commands })
    if (exitCode === 0) return
    if (!/cannot lock ref|\.lock|packed-refs\.new/.test(complaint)) {
      throw new GitError('git-failed', `git update-ref ended with ${exitCode ?? 'a signal'}: ${complaint}`)
    }
    if (Date.now() > until) throw new GitError('lock-held', `other writers hold refs below ${folder}: ${complaint}`)
    await clearBrokenRefs(gitDir, folder)
    await clearPackedRefsLock(gitDir, staleLockAfterMs)
    await delay(betweenAttemptsMs)
  }
}

/** Removes what a crash left below a folder of derived refs: files that hold no object id, and locks that nobody holds. */
export async function clearBrokenRefs(gitDir: string, folder: string): Promise<void> {
  const entries = await readdir(join(gitDir, folder), { recursive: true, withFileTypes: true }).catch(unlessMissing)
  for (const entry of entries ?? []) {
    if (entry.isDirectory()) continue
    const path = join(entry.parentPath, entry.name)
    if (await isBroken(path)) await unlink(path).catch(unlessMissing)
  }
}

async function isBroken(path: string): Promise<boolean> {
  if (path.endsWith('.lock')) return (await isStale(path, staleLockAfterMs)) === true
  const content = await readFile(path, 'latin1').catch(unlessMissing)
  return content !== undefined && !/^[0-9a-f]{40}\n?$/.test(content)
}
