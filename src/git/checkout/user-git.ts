import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { GitError } from '../git-error.ts'

/** Set by a git that runs us, they would lead to its repository in the place of the folder's. */
const locations = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_COMMON_DIR', 'GIT_PREFIX']
/** What makes `git push` in a clone submit, as keys and values of its configuration. */
const settings = [
  ['remote.origin.push', 'HEAD:refs/for/main'],
  ['push.pushOption', 'submit'],
] as const

/** Runs git in a folder as its user does, with their configuration. `code` is not 0 where it fails, also for want of a git. */
function runUserGit(dir: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !locations.includes(name)))
  return new Promise((resolve) => {
    execFile('git', args, { cwd: dir, env }, (error, stdout) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, output: stdout.replace(/\r?\n$/, '') })
    })
  })
}

/**
 * The folder in which git looks for a checkout's hooks, by the user's own set-up: `core.hooksPath`, linked work trees.
 * @throws {GitError} `git-failed` where the folder is in no checkout
 */
export async function hooksFolder(dir: string): Promise<string> {
  const { code, output } = await runUserGit(dir, ['rev-parse', '--git-path', 'hooks'])
  if (code !== 0) throw new GitError('git-failed', `${dir} is no git checkout.`)
  return resolve(dir, output)
}

/**
 * Lets `git push` in a clone submit. Answers what was set, as `key=value`: nothing where all of it was.
 * @throws {GitError} `git-failed` where there is no remote `origin`, or another refspec is set for it
 */
export async function setSubmitDefault(dir: string): Promise<string[]> {
  if ((await valuesOf(dir, 'remote.origin.url')).length === 0) {
    throw new GitError('git-failed', `${dir} has no remote origin to submit to.`)
  }
  const [[pushKey, refspec]] = settings
  const other = (await valuesOf(dir, pushKey)).find((value) => value !== refspec)
  if (other !== undefined) {
    throw new GitError(
      'git-failed',
      `${pushKey} is ${other} already: take it out with git config --unset-all ${pushKey}`,
    )
  }
  const missing: [string, string][] = []
  for (const [key, value] of settings) if (!(await valuesOf(dir, key)).includes(value)) missing.push([key, value])
  for (const [key, value] of missing) {
    const { code } = await runUserGit(dir, ['config', '--local', '--add', key, value])
    if (code !== 0) throw new GitError('git-failed', `git could not set ${key} in ${dir}.`)
  }
  return missing.map((entry) => entry.join('='))
}

/** Lets `git push` do again what it did. Answers what was taken out, as `key=value`. */
export async function unsetSubmitDefault(dir: string): Promise<string[]> {
  const found: string[] = []
  for (const [key, value] of settings) {
    const { code } = await runUserGit(dir, ['config', '--local', '--unset-all', key, `^${value}$`])
    if (code === 0) found.push(`${key}=${value}`)
  }
  return found
}

async function valuesOf(dir: string, key: string): Promise<string[]> {
  const { code, output } = await runUserGit(dir, ['config', '--local', '--get-all', key])
  return code === 0 ? output.split('\n') : []
}
