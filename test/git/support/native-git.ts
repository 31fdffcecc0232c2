import { execFileSync } from 'node:child_process'

/** Runs the machine's own git, as another program beside the server would. */
export function nativeGit(dir: string, args: readonly string[], input?: string | Buffer): string {
  return execFileSync('git', ['-c', 'user.name=Native', '-c', 'user.email=native@example.com', ...args], {
    cwd: dir,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(input === undefined ? {} : { input }),
  }).trimEnd()
}
