import { resolve } from 'node:path'
import { GitError } from '../git-error.ts'
import { runUserGit } from './user-git.ts'

/**
 * The folder in which git looks for a checkout's hooks, by the user's own set-up: `core.hooksPath`, linked work trees.
 * @throws {GitError} `git-failed` where the folder is in no checkout
 */
export async function hooksFolder(dir: string): Promise<string> {
  const { code, output } = await runUserGit(dir, ['rev-parse', '--git-path', 'hooks'])
  if (code !== 0) throw new GitError('git-failed', `${dir} is no git checkout.`)
  return resolve(dir, output)
}
