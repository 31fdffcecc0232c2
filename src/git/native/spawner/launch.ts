import { type IOType, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { Duplex, type Readable, type Stream, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'

export type Order = {
  command: string
  args: readonly string[]
  cwd: string
  /** All of its environment. */
  env: NodeJS.ProcessEnv
  /** Whether its standard input is a stream. Otherwise it is empty. */
  hasInput: boolean
  /** Number of two-way streams that it inherits, from file descriptor 3 on. */
  channels: number
  /** Priority as `os.setPriority` takes it. */
  priority?: number | undefined
}

export type End = {
  /** `null` if a signal ended the program. */
  exitCode: number | null
  signal: NodeJS.Signals | null
  complaint: string
}

type Launched = {
  pid: number
  /** This process's ends, where pipes were asked for. */
  stdin: Writable | null
  stdout: Readable | null
  channels: readonly Duplex[]
  /** Resolves when the program has ended, with all that writes to its standard error. Its channels are closed then. */
  ended: Promise<End>
  kill(signal: NodeJS.Signals): void
}

/** Characters of standard error that are kept. */
const maxComplaint = 256 * 1024

/**
 * Starts a program in a process group of its own. `stdin` and `stdout` are streams for it to inherit, or `pipe`.
 * Throws what `spawn` fails with.
 */
export async function launch(order: Order, stdin: IOType | Stream, stdout: IOType | Stream): Promise<Launched> {
  const { command, args, cwd, env, priority } = order
  const pipes = Array.from({ length: 1 + order.channels }, () => 'pipe' as const)
  const child = spawn(command, args, { cwd, env, detached: true, stdio: [stdin, stdout, ...pipes] })
  await once(child, 'spawn')
  const { pid = 0 } = child
  const [, , stderr, ...others] = child.stdio
  const channels = others.filter((stream) => stream instanceof Duplex)
  if (priority !== undefined) unlessEnded(() => setPriority(pid, priority))
  for (const channel of channels) channel.on('error', () => {})
  const complaint = collectBeginning(stderr as Readable)
  let hasEnded = false
  const untilEnded = async (): Promise<End> => {
    const [exitCode, signal] = await once(child, 'exit')
    // A hook that waits for an answer on a channel would keep standard error open.
    for (const channel of channels) channel.destroy()
    await finished(stderr as Readable).catch(() => {})
    hasEnded = true
    return { exitCode, signal, complaint: complaint() }
  }
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    channels,
    ended: untilEnded(),
    kill(signal) {
      if (!hasEnded) unlessEnded(() => process.kill(-pid, signal))
    },
  }
}

function unlessEnded(act: () => void): void {
  try {
    act()
  } catch {
    // The process, or its whole group, has ended.
  }
}

function collectBeginning(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < maxComplaint) text += chunk.slice(0, maxComplaint - text.length)
  })
  return () => text
}

export type RunningProgram = {
  /** Takes nothing if the program was started without input. */
  stdin: Writable
  stdout: Readable
  channels: readonly Duplex[]
  /**
   * Resolves when the program has ended, with all that writes to its standard error. What it wrote may still be read then.
   * Rejects with a {@link GitError} `git-failed` if nobody can say how it ended.
   */
  ended: Promise<End>
  kill(signal: NodeJS.Signals): void
}

export function noInput(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() }).end()
}
