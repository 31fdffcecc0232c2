import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { GitError } from './git-error.ts'

/** Set by a git that runs us, they would lead to its repository in the place of the folder's. */
const locations = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_COMMON_DIR', 'GIT_PREFIX']

/**
 * The folder in which git looks for a checkout's hooks, by the user's own set-up: `core.hooksPath`, linked work trees.
 * @throws {GitError} `git-failed` where the folder is in no checkout
 */
export async function hooksFolder(dir: string): Promise<string> {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !locations.includes(name)))
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', '--git-path', 'hooks'], {
      cwd: dir,
      env: environment,
    })
    return resolve(dir, stdout.replace(/\r?\n$/, ''))
  } catch (cause) {
    throw new GitError('git-failed', `${dir} is no git checkout.`, { cause })
  }
}
