import { tmpdir } from 'node:os'
import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { GitError } from '../git-error.ts'
import type { End, RunningProgram } from './child-program.ts'
import { startProgram } from './spawner.ts'

/** Settings of every spawned git, so that no configuration of the machine, user or repository changes its behaviour. */
export const isolation: readonly string[] = [
  'safe.bareRepository=explicit',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'protocol.allow=never',
  'core.fsync=all',
  'gc.auto=0',
  // Bounds memory on any machine and for any repository. Blobs above the threshold are streamed.
  'core.bigFileThreshold=4m',
  'core.packedGitWindowSize=64m',
  'core.packedGitLimit=1g',
  'pack.threads=1',
  'pack.windowMemory=64m',
  'pack.deltaCacheSize=64m',
].flatMap((setting) => ['-c', setting])

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
    // Makes a missing object of a partial clone an error instead of fetching it.
    GIT_NO_LAZY_FETCH: '1',
  }
}

type SpawnOptions = {
  environment?: NodeJS.ProcessEnv
  /** Milliseconds after which git is killed. */
  timeLimit?: number
  hasInput?: boolean
  /** Priority as in `os.setPriority`. Lower for work that must not delay other work. */
  priority?: number | undefined
}

/** Milliseconds between `SIGTERM` and `SIGKILL`. */
const graceMs = 5000
/** Default time limit in milliseconds, far above the duration of any request. */
const defaultTimeLimit = 5 * 60_000
/** Time limit in milliseconds for work on a whole repository. */
export const longTimeLimit = 60 * 60_000

/**
 * Starts native git on a bare repository in its own environment and process group. Kills the group at the time limit; the caller should
 * end it before.
 * @throws {GitError} `no-git` if it cannot be started
 */
async function spawnGit(
  gitDir: string,
  args: readonly string[],
  { environment = {}, timeLimit = defaultTimeLimit, hasInput = false, priority }: SpawnOptions = {},
): Promise<RunningProgram> {
  const git = await startProgram({
    command: 'git',
    args: [...isolation, ...args],
    cwd: gitDir,
    env: { ...gitEnvironment(gitDir), ...environment },
    ...{ hasInput, channels: 0, priority },
  })
  git.stdin.on('error', () => {}) // The process may end before it has read everything.
  const timer = setTimeout(() => git.kill('SIGKILL'), timeLimit).unref()
  git.ended.catch(() => {}).finally(() => clearTimeout(timer))
  return git
}

type GitOptions = Omit<SpawnOptions, 'hasInput'> & {
  signal?: AbortSignal
  input?: string | AsyncIterable<string>
}

/** Exit code and output of a git process. The exit code is null if a signal ended it. */
export type GitOutcome = Pick<End, 'exitCode' | 'complaint'> & { output: string }

/**
 * Runs native git to its end. `signal` ends it early, with time to clean up.
 * @throws {GitError} `no-git` if it cannot be started; the signal's reason if it had aborted before; errors of `input`
 */
export async function tryGit(
  gitDir: string,
  args: readonly string[],
  { signal, input = '', ...options }: GitOptions = {},
): Promise<GitOutcome> {
  signal?.throwIfAborted()
  const git = await spawnGit(gitDir, args, { ...options, hasInput: input !== '' })
  let killing: NodeJS.Timeout | undefined
  const stop = () => {
    git.kill('SIGTERM')
    killing = setTimeout(() => git.kill('SIGKILL'), graceMs)
  }
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  const fed = input === '' ? undefined : pipeToGit(typeof input === 'string' ? [input] : input, git.stdin)
  fed?.catch(() => git.kill('SIGKILL'))
  try {
    const [output, { exitCode, complaint }] = await Promise.all([text(git.stdout), git.ended])
    await fed
    return { exitCode, output, complaint }
  } finally {
    clearTimeout(killing)
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * Runs native git and returns its standard output.
 * @throws {GitError} `git-failed` for any exit code but 0, or if `signal` ends it; `no-git` if it cannot be started
 */
export async function runGit(gitDir: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const { exitCode, output, complaint } = await tryGit(gitDir, args, options)
  if (exitCode === 0) return output
  throw new GitError('git-failed', `git ${args.join(' ')} ended with ${exitCode ?? 'a signal'}: ${complaint}`)
}

/**
 * Writes input to a git's standard input. If git has ended, the rest of the input is still read: a client reads the response only
 * after it has sent everything.
 */
export async function pipeToGit(
  input: AsyncIterable<Buffer | string> | Iterable<Buffer | string> | undefined,
  stdin: Writable,
): Promise<undefined> {
  for await (const chunk of input ?? []) {
    if (stdin.writable && !stdin.write(chunk)) await drained(stdin)
  }
  stdin.end()
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
  })
}

const timeLimitMs = 10_000

let found: Promise<string | undefined> | undefined

/**
 * Returns the version of the installed git; undefined if there is none. Determined once: a process that started with git fails without
 * it, and one that started without ignores a later one. Only clones, pushes and the maintenance of large repositories need it.
 */
export function nativeGit(): Promise<string | undefined> {
  found ??= version()
  return found
}

async function version(): Promise<string | undefined> {
  try {
    const output = await runGit(tmpdir(), ['version'], { signal: AbortSignal.timeout(timeLimitMs) })
    return output.replace(/^git version /, '').trim()
  } catch {
    return undefined
  }
}
