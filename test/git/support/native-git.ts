import { runProgram } from '../../support/run-program.ts'

const settings = Object.entries({
  'user.name': 'Native',
  'user.email': 'native@example.com',
  // A commit or a fetch would start another git, to see whether there is something to tidy up.
  'maintenance.auto': 'false',
}).flatMap(([key, value]) => ['-c', `${key}=${value}`])

/** Runs the machine's own git, as another program beside the server would. Gives its output as text, without the last line ends. */
export function nativeGit(dir: string, args: readonly string[], input?: string | Buffer): string {
  return nativeGitBytes(dir, args, input).toString().trimEnd()
}

export function nativeGitBytes(dir: string, args: readonly string[], input: string | Buffer = ''): Buffer {
  return runProgram('git', [...settings, ...args], { cwd: dir, env: process.env, input })
}
