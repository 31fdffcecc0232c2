import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { GitError } from './git-error.ts'

/** Nothing of the machine's, the user's or the repository's own set-up may change what a spawned git does. */
const isolation = [
  '-c',
  'safe.bareRepository=explicit',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'protocol.allow=never',
  '-c',
  'core.fsync=all',
  '-c',
  'gc.auto=0',
]

function gitEnvironment(gitDir: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: gitDir,
    LC_ALL: 'C.UTF-8',
    GIT_DIR: gitDir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
  }
}

/** Starts native git on a bare repository with an environment of its own. The caller ends it. */
export function spawnGit(gitDir: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn('git', [...isolation, ...args], { env: gitEnvironment(gitDir), cwd: gitDir })
}

/**
 * Runs native git to its end and gives its standard output.
 * @throws {GitError} `git-failed` when it exits with anything but 0 or is stopped by `signal`.
 */
export async function runGit(
  gitDir: string,
  args: readonly string[],
  options: { input?: string; signal?: AbortSignal } = {},
): Promise<string> {
  const child = spawnGit(gitDir, args)
  const stop = () => child.kill('SIGKILL')
  options.signal?.addEventListener('abort', stop, { once: true })
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  try {
    const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)])
    if (child.exitCode !== 0) {
      throw new GitError('git-failed', `git ${args[0]} ended with ${child.exitCode ?? child.signalCode}: ${complaint}`)
    }
    return output
  } finally {
    options.signal?.removeEventListener('abort', stop)
  }
}

/** Resolves when a child has ended, however it did; rejects when it could not be started. */
export function ended(child: ChildProcessWithoutNullStreams): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('close', () => resolve())
    child.once('error', (cause) => reject(new GitError('git-failed', 'git could not be started', { cause })))
  })
}
