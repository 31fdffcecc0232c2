import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Exit code of a shell that does not find the program. */
const noProgram = 127

type OwnGitOptions = {
  config?: readonly string[]
  signal?: AbortSignal
  /** Maximum bytes of memory of git and of each process that it starts, if the system supports limits. */
  maxMemory?: number
}

/**
 * Runs git with the operator's configuration, keys and credential helpers, and returns its output.
 * @throws {Error} with git's message for a person; the reason of `signal`
 */
export async function operatorsGit(
  gitDir: string,
  args: readonly string[],
  { config = [], signal, maxMemory }: OwnGitOptions = {},
): Promise<string> {
  const settings = config.flatMap((setting) => ['-c', setting])
  const git = ['git', '--git-dir', gitDir, ...settings, ...args]
  // Limits data, not address space, of which credential helpers may reserve far more than they use.
  const limited = ['sh', '-c', `ulimit -d ${Math.ceil((maxMemory ?? 0) / 1024)} 2>/dev/null; exec "$@"`, 'sh', ...git]
  const [command = 'git', ...rest] = maxMemory === undefined || process.platform === 'win32' ? git : limited
  const { stdout } = await run(command, rest, { ...(signal && { signal }) }).catch(({ code, stderr }) => {
    signal?.throwIfAborted()
    const isMissing = code === 'ENOENT' || code === noProgram
    throw new Error(isMissing ? 'No git is installed.' : `git ${args[0]} failed: ${String(stderr).trim()}`)
  })
  return stdout
}

/** Returns the address of a repository without a name and a password. */
export function withoutCredentials(remote: string): string {
  return remote.replace(/\/\/[^/@]*@/, '//')
}
