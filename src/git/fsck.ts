import { text } from 'node:stream/consumers'
import { GitError } from './git-error.ts'
import { ended, spawnGit } from './git-process.ts'

/**
 * What `git fsck --full --strict` finds wrong with a repository, one line each. It does not see that a ref is gone.
 * @throws {GitError} `git-failed` when `signal` ends it.
 */
export async function fsck(gitDir: string, signal: AbortSignal): Promise<string[]> {
  signal.throwIfAborted()
  const child = spawnGit(gitDir, ['fsck', '--full', '--strict', '--no-dangling', '--no-progress'])
  const stop = () => child.kill('SIGKILL')
  signal.addEventListener('abort', stop, { once: true })
  child.stdin.end()
  try {
    const [found, complaint] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)])
    if (child.signalCode !== null) throw new GitError('git-failed', `git fsck was ended by ${child.signalCode}`)
    if (child.exitCode === 0) return []
    const lines = `${complaint}\n${found}`.split('\n').filter((line) => line.trim() !== '')
    return lines.length === 0 ? [`git fsck ended with ${child.exitCode}`] : lines
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
