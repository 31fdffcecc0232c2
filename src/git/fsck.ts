import { GitError } from './git-error.ts'
import { longTimeLimit, tryGit } from './git-process.ts'

/**
 * What `git fsck --full --strict` finds wrong with a repository, one line each. It does not see that a ref is gone.
 * @throws {GitError} `git-failed` when `signal` ends it.
 */
export async function fsck(gitDir: string, signal: AbortSignal): Promise<string[]> {
  const args = ['fsck', '--full', '--strict', '--no-dangling', '--no-progress']
  const { exitCode, output, complaint } = await tryGit(gitDir, args, { signal, timeLimit: longTimeLimit })
  if (exitCode === null) throw new GitError('git-failed', 'git fsck was ended by a signal')
  if (exitCode === 0) return []
  const lines = `${complaint}\n${output}`.split('\n').filter((line) => line.trim() !== '')
  return lines.length === 0 ? [`git fsck ended with ${exitCode}`] : lines
}
