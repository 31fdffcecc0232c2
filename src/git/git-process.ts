import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { GitError } from './git-error.ts'

/** Settings of every spawned git, so that nothing in the set-up of the machine, the user or the repository changes what it does. */
export const isolation: readonly string[] = [
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
  // Memory is bounded, whatever the machine has and the repository holds. Blobs above the threshold are streamed, not loaded.
  '-c',
  'core.bigFileThreshold=4m',
  '-c',
  'core.packedGitWindowSize=64m',
  '-c',
  'core.packedGitLimit=1g',
  '-c',
  'pack.threads=1',
  '-c',
  'pack.windowMemory=64m',
  '-c',
  'pack.deltaCacheSize=64m',
]

export function gitEnvironment(gitDir: string): NodeJS.ProcessEnv {
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
    // Of a partial clone, what is not there is missing: nothing is fetched.
    GIT_NO_LAZY_FETCH: '1',
  }
}

type SpawnOptions = {
  /** What is added to git's own. */
  environment?: NodeJS.ProcessEnv
  /** Milliseconds after which git is killed. */
  timeLimit?: number
}

/** For git to end what it was told to end, before it is killed. */
const graceMs = 5000
/** Far more than any work takes that a request waits for. */
const defaultTimeLimit = 5 * 60_000
/** For work on a whole repository, and for histories that are read no faster than their reader is. */
export const longTimeLimit = 60 * 60_000

/**
 * Starts native git on a bare repository with an environment of its own, in a process group of its own, which is killed at the
 * time limit. The caller ends it before that.
 */
export function spawnGit(
  gitDir: string,
  args: readonly string[],
  { environment = {}, timeLimit = defaultTimeLimit }: SpawnOptions = {},
): ChildProcessWithoutNullStreams {
  const env = { ...gitEnvironment(gitDir), ...environment }
  const child = spawn('git', [...isolation, ...args], { env, cwd: gitDir, detached: true })
  if (timeLimit === Number.POSITIVE_INFINITY) return child
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), timeLimit).unref()
  return child.once('close', () => clearTimeout(timer)).once('error', () => clearTimeout(timer))
}

/** Sends a signal to a process and all that it has started, which must be a group of its own. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // All of the group has ended.
  }
}

type GitOptions = SpawnOptions & {
  signal?: AbortSignal
  /** As the operating system has it, where git must not be in anybody's way. */
  priority?: number
  /** What git reads. */
  input?: string
}

/** How a git ended, and what it said. Without an exit code it was ended by a signal. */
export type GitOutcome = { exitCode: number | null; output: string; complaint: string }

/**
 * Runs native git to its end, however that is. `signal` ends it early, with time to tidy up behind itself.
 * @throws {GitError} `no-git` when it cannot be started; the signal's reason when that had come before.
 */
export async function tryGit(
  gitDir: string,
  args: readonly string[],
  { signal, priority, input = '', ...options }: GitOptions = {},
): Promise<GitOutcome> {
  signal?.throwIfAborted()
  const child = spawnGit(gitDir, args, options)
  let killing: NodeJS.Timeout | undefined
  const stop = () => {
    signalGroup(child, 'SIGTERM')
    killing = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs)
  }
  signal?.addEventListener('abort', stop, { once: true })
  if (priority !== undefined) lowerPriority(child.pid, priority)
  child.stdin.on('error', () => {}) // it may end before it has read everything
  child.stdin.end(input)
  try {
    const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)])
    return { exitCode: child.exitCode, output, complaint }
  } finally {
    clearTimeout(killing)
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * Runs native git and gives its standard output.
 * @throws {GitError} `git-failed` when it exits with anything but 0 or is ended by `signal`; `no-git` when it cannot be started.
 */
export async function runGit(gitDir: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const { exitCode, output, complaint } = await tryGit(gitDir, args, options)
  if (exitCode === 0) return output
  throw new GitError('git-failed', `git ${args.join(' ')} ended with ${exitCode ?? 'a signal'}: ${complaint}`)
}

function lowerPriority(pid: number | undefined, priority: number): void {
  try {
    if (pid !== undefined) setPriority(pid, priority)
  } catch {
    // It has ended already.
  }
}

/** Resolves when a child has ended, however it did; rejects when it could not be started. */
export function ended(child: ChildProcessWithoutNullStreams): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('close', () => resolve())
    child.once('error', (cause) => reject(new GitError('no-git', 'git could not be started', { cause })))
  })
}
