import { GitError } from './git-error.ts'
import { reachableFrom } from './history/reachable.ts'
import { longTimeLimit, nativeGit, tryGit } from './native/git-process.ts'
import { hashObject, type Oid } from './objects/object.ts'
import { listRefs } from './refs/refs.ts'
import { Repository } from './repository.ts'

/**
 * Returns the problems of a repository's objects, one line each: the findings of `git fsck --full --strict` or, without git, of {@link
 * checkObjects}. Neither detects a missing ref.
 * @throws {GitError} `git-failed` if `signal` ends it
 */
export async function fsck(gitDir: string, signal: AbortSignal): Promise<string[]> {
  return (await nativeGit()) === undefined ? checkObjects(gitDir, signal) : nativeFsck(gitDir, signal)
}

async function nativeFsck(gitDir: string, signal: AbortSignal): Promise<string[]> {
  const args = ['fsck', '--full', '--strict', '--no-dangling', '--no-progress']
  const { exitCode, output, complaint } = await tryGit(gitDir, args, { signal, timeLimit: longTimeLimit })
  if (exitCode === null) throw new GitError('git-failed', 'git fsck was ended by a signal')
  if (exitCode === 0) return []
  const lines = `${complaint}\n${output}`.split('\n').filter((line) => line.trim() !== '')
  return lines.length === 0 ? [`git fsck ended with ${exitCode}`] : lines
}

/**
 * Finds objects reachable from refs that are missing, unreadable, or do not match their ids; one line each.
 * @throws {GitError} `git-failed` if `signal` ends it
 */
export async function checkObjects(gitDir: string, signal: AbortSignal): Promise<string[]> {
  const damage = new Map<Oid, string>()
  const note = (oid: Oid, problem: unknown) => {
    if (!(problem instanceof GitError)) throw problem
    damage.set(oid, problem.code === 'missing-object' ? `missing ${oid}` : `damaged ${oid}: ${problem.message}`)
  }
  using repository = new Repository(gitDir)
  for (const oid of await reachableFrom(repository, (await listRefs(gitDir)).values(), note)) {
    if (signal.aborted) throw new GitError('git-failed', 'the check of the objects was ended')
    if (damage.has(oid)) continue
    try {
      const { type, data } = await repository.readOnce(oid)
      if (hashObject(type, data) !== oid) damage.set(oid, `damaged ${oid}: it is not what its id says`)
    } catch (error) {
      note(oid, error)
    }
  }
  return [...damage.values()]
}
