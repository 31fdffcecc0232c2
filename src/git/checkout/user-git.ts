import { execFile } from 'node:child_process'

/** Set by a git that runs us, they would lead to its repository in the place of the folder's. */
const locations = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_COMMON_DIR', 'GIT_PREFIX']

/** Runs git in a folder as its user does, with their configuration. `code` is not 0 where it fails, also for want of a git. */
export function runUserGit(dir: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !locations.includes(name)))
  return new Promise((resolve) => {
    execFile('git', args, { cwd: dir, env }, (error, stdout) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, output: stdout.replace(/\r?\n$/, '') })
    })
  })
}
