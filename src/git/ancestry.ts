import { GitError } from './git-error.ts'
import { type GitOutcome, tryGit } from './git-process.ts'
import { isOid, type Oid } from './objects/object.ts'
import { quarantineEnvironment } from './quarantine.ts'

/**
 * Whether one commit is in the history of another, or is that commit. Of a commit that is not there, nothing is.
 * @param quarantine the folder of a push's objects, where they are not in the repository yet.
 * @throws {GitError} `git-failed` when the history of `head` cannot be read.
 */
export async function isAncestor(gitDir: string, commit: Oid, head: Oid, quarantine?: string): Promise<boolean> {
  if (commit === head) return true
  const environment = quarantineEnvironment(gitDir, quarantine)
  const outcome = await tryGit(gitDir, ['merge-base', '--is-ancestor', commit, head], { environment })
  if (hasAnswered(outcome)) return outcome.exitCode === 0
  if ((await tryGit(gitDir, ['cat-file', '-e', commit], { environment })).exitCode === 1) return false
  throw unreadable(outcome)
}

/** Milliseconds. A history with thousands of merge bases takes git minutes, any other a part of a second. */
const mergeBaseTime = 20_000

/**
 * The best common ancestor of two commits; nothing where they have none.
 * @throws {GitError} `git-failed` when the history of either cannot be read, `too-slow` when it takes longer than the time limit.
 */
export async function mergeBase(
  gitDir: string,
  a: Oid,
  b: Oid,
  { quarantine, timeLimit = mergeBaseTime }: { quarantine?: string | undefined; timeLimit?: number } = {},
): Promise<Oid | undefined> {
  const environment = quarantineEnvironment(gitDir, quarantine)
  const outcome = await tryGit(gitDir, ['merge-base', a, b], { environment, timeLimit })
  if (outcome.exitCode === null) throw new GitError('too-slow', 'git merge-base was ended')
  if (!hasAnswered(outcome)) throw unreadable(outcome)
  const [oid = ''] = outcome.output.split('\n', 1)
  return isOid(oid) ? oid : undefined
}

/** Some versions of git end with 1, as for "no", when they could not read a commit, and only complain. */
function hasAnswered({ exitCode, complaint }: GitOutcome): boolean {
  return exitCode === 0 || (exitCode === 1 && !/^(error|fatal):/m.test(complaint))
}

function unreadable({ exitCode, complaint }: GitOutcome): GitError {
  return new GitError('git-failed', `git merge-base ended with ${exitCode ?? 'a signal'}: ${complaint}`)
}
