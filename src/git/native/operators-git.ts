import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

type OwnGitOptions = { config?: readonly string[]; signal?: AbortSignal }

/**
 * Runs git as the operator of a command has set it up, with their keys and credential helpers, and returns its output.
 * @throws {Error} with the complaint of git for a person; the reason of `signal`
 */
export async function operatorsGit(
  gitDir: string,
  args: readonly string[],
  { config = [], signal }: OwnGitOptions = {},
): Promise<string> {
  const settings = config.flatMap((setting) => ['-c', setting])
  const { stdout } = await run('git', ['--git-dir', gitDir, ...settings, ...args], { ...(signal && { signal }) }).catch(
    ({ code, stderr }) => {
      signal?.throwIfAborted()
      throw new Error(code === 'ENOENT' ? 'No git is installed.' : `git ${args[0]} failed: ${String(stderr).trim()}`)
    },
  )
  return stdout
}

/** Returns the address of a repository without a name and a password. */
export function withoutCredentials(remote: string): string {
  return remote.replace(/\/\/[^/@]*@/, '//')
}
