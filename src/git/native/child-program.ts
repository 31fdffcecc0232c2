import { type IOType, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { Duplex, Readable, type Stream, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { GitError } from '../git-error.ts'

export type Order = {
  command: string
  args: readonly string[]
  cwd: string
  /** Complete environment of the program. */
  env: NodeJS.ProcessEnv
  /** True if standard input is a stream. Otherwise it is empty. */
  hasInput: boolean
  /** Number of two-way streams that the program inherits, from file descriptor 3 on. */
  channels: number
  /** Priority as in `os.setPriority`. */
  priority?: number | undefined
}

export type End = {
  /** Exit code; `null` if a signal ended the program. */
  exitCode: number | null
  signal: NodeJS.Signals | null
  /** Beginning of the program's standard error. */
  complaint: string
}

export type RunningProgram = {
  /** Standard input. Discards everything if the program was started without input. */
  stdin: Writable
  stdout: Readable
  channels: readonly Duplex[]
  /**
   * Resolves when the program has ended, with all processes that write to its standard error. Unread output stays available.
   * Rejects with a {@link GitError} `git-failed` if the end cannot be observed.
   */
  ended: Promise<End>
  /** Sends a signal to the program and its process group. */
  kill(signal: NodeJS.Signals): void
}

export type StartProgram = (order: Order) => Promise<RunningProgram>

/** Returns the file descriptors that need a connection: standard input if there is one, standard output, the channels. */
export function descriptorsOf({ hasInput, channels }: Order): number[] {
  return [...(hasInput ? [0] : []), 1, ...Array.from({ length: channels }, (_, index) => 3 + index)]
}

/** Maximum characters of standard error that are kept. */
const maxComplaint = 256 * 1024

/** Starts a program as a child of this process. @throws {GitError} `no-git` if it cannot be started */
export const startDirectly: StartProgram = (order) =>
  launch(order, order.hasInput ? 'pipe' : 'ignore', 'pipe').catch((cause: unknown) => {
    throw new GitError('no-git', 'git could not be started', { cause })
  })

/**
 * Starts a program in its own process group. `stdin` and `stdout` are `pipe`, or streams to inherit. Throws the error
 * of `spawn`.
 */
export async function launch(
  order: Order,
  stdin: IOType | Stream,
  stdout: IOType | Stream,
): Promise<RunningProgram & { pid: number }> {
  const { command, args, cwd, env, priority } = order
  const pipes = Array.from({ length: 1 + order.channels }, () => 'pipe' as const)
  const child = spawn(command, args, { cwd, env, detached: true, stdio: [stdin, stdout, ...pipes] })
  await once(child, 'spawn')
  const { pid = 0 } = child
  const [, , stderr, ...others] = child.stdio
  const channels = others.filter((stream) => stream instanceof Duplex)
  if (priority !== undefined) unlessEnded(() => setPriority(pid, priority))
  for (const channel of channels) channel.on('error', () => {})
  let complaint = ''
  ;(stderr as Readable).setEncoding('utf8').on('data', (chunk: string) => {
    complaint += chunk.slice(0, maxComplaint - complaint.length)
  })
  let hasEnded = false
  const untilEnded = async (): Promise<End> => {
    const [exitCode, signal] = await once(child, 'exit')
    // A hook that waits for an answer on a channel would keep standard error open.
    for (const channel of channels) channel.destroy()
    await finished(stderr as Readable).catch(() => {})
    hasEnded = true
    return { exitCode, signal, complaint }
  }
  return {
    pid,
    stdin: child.stdin ?? noInput(),
    stdout: child.stdout ?? Readable.from([]),
    channels,
    ended: untilEnded(),
    kill: (signal) => {
      if (!hasEnded) killGroup(pid, signal)
    },
  }
}

export function killGroup(pid: number, signal: NodeJS.Signals): void {
  unlessEnded(() => process.kill(-pid, signal))
}

function unlessEnded(act: () => void): void {
  try {
    act()
  } catch {
    // The process, or its whole group, has already ended.
  }
}

export function noInput(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() }).end()
}
