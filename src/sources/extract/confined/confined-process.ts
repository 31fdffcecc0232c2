import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { OnProgress } from '../../extracted.ts'
import type { ExtractLimits } from '../extract-limits.ts'

/** Resident memory in bytes; CPU time so far, and time spent waiting for a processor if the system reports it, in milliseconds. */
type ProcessUsage = { memory: number; cpuTime: number; waited: number }

const run = promisify(execFile)
/** Unit of times in Linux's `/proc/<pid>/stat`, the same for all programs. */
const ticksPerSecond = 100

export type Confinement = {
  /** Flags of Node and the program. */
  args: string[]
  /** Text for the standard input of the process, which stays open until its end. */
  input: string
  /** Folder for temporary files, if it needs one. */
  scratch: string | undefined
  limits: ExtractLimits
  signal: AbortSignal | undefined
  onProgress?: OnProgress | undefined
  usageOf?: typeof processUsage
}

/** End of a process: by itself, or because it exceeded a limit. */
export type Ending =
  | { kind: 'ended'; output: Buffer; errors: string; exit: string }
  | { kind: 'exceeded'; limit: Limit }

/** Limit that the process exceeded. `starved`: it spent most of its time waiting for a processor. */
type Limit = keyof ExtractLimits | 'starved'

const pollInterval = 100
/** Maximum elapsed time of a process that gets no processor, as a multiple of the limit of elapsed time. */
const mostStarved = 5
const maxErrorBytes = 16 * 1024
const progressLine = /^(\d{1,9}) (\d{1,9})$/
const maxProgressLine = 20
/** The system limits the CPU time as well, even if this process dies. Windows has no such limits. */
const limitedShell = 'ulimit -t "$1" || exit 1; ulimit -c 0; shift; exec "$@"'

/**
 * Runs Node with a minimal environment, and kills it when it exceeds `limits`, or `signal` aborts. File descriptor 3 is its
 * output. File descriptor 4 is its progress: lines with two numbers, done and total. When this returns or throws, the process has
 * ended.
 * @throws what starting it throws, and the signal's reason.
 */
export async function runConfined(confinement: Confinement): Promise<Ending> {
  const { args, input, scratch, limits, signal, onProgress, usageOf = processUsage } = confinement
  signal?.throwIfAborted()
  const child = start(args, scratch, limits)
  const errors = collect(child.stderr, maxErrorBytes, () => undefined)
  let exceeded: Limit | undefined
  const end = (limit?: Limit) => {
    exceeded ??= limit
    child.kill('SIGKILL')
  }
  const output = collect(child.stdio[3], limits.output, () => end('output'))
  if (onProgress) followProgress(child.stdio[4], onProgress)
  const abort = () => end()
  signal?.addEventListener('abort', abort)
  const done = new AbortController()
  try {
    const ended = exitOf(child)
    // The exit code reports a process that ends before it has read its input.
    child.stdin?.on('error', () => undefined).write(input)
    watch(child, { ...limits, usageOf }, end, done.signal)
    const exit = await ended
    signal?.throwIfAborted()
    if (exceeded !== undefined) return { kind: 'exceeded', limit: exceeded }
    if (exit === 'SIGXCPU') return { kind: 'exceeded', limit: 'cpuTime' }
    return { kind: 'ended', output: output(), errors: errors().toString(), exit }
  } finally {
    done.abort()
    signal?.removeEventListener('abort', abort)
    end()
  }
}

function start(args: string[], scratch: string | undefined, { cpuTime }: ExtractLimits): ChildProcess {
  const isWindows = process.platform === 'win32'
  const seconds = String(Math.ceil(cpuTime / 1000) + 1)
  const [command, ...before] = isWindows
    ? [process.execPath]
    : ['/bin/sh', '-c', limitedShell, 'sh', seconds, process.execPath]
  const child = spawn(command ?? process.execPath, [...before, ...args], {
    env: {
      TZ: 'UTC',
      ...(scratch === undefined ? {} : { TMPDIR: scratch, TEMP: scratch }),
      ...(isWindows ? { SystemRoot: process.env.SystemRoot } : {}),
    },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
  })
  try {
    // Requests to the server have priority.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended, or the system does not allow it.
  }
  return child
}

/** Returns the exit code or the signal that ended the process, once all of its output was received. */
function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(signal ?? String(code)))
  })
}

/**
 * Ends a process that exceeds a limit. The time in which it waits for a processor does not count, but its elapsed time may be no more than
 * {@link mostStarved} times the limit.
 */
async function watch(
  { pid }: ChildProcess,
  { memory, cpuTime, wallTime, usageOf }: ExtractLimits & { usageOf: typeof processUsage },
  end: (limit: Limit) => void,
  signal: AbortSignal,
): Promise<void> {
  const start = performance.now()
  while (pid !== undefined && !signal.aborted) {
    const usage = await usageOf(pid)
    if (signal.aborted) return
    const elapsed = performance.now() - start
    if (usage && usage.memory > memory) end('memory')
    else if (usage && usage.cpuTime > cpuTime) end('cpuTime')
    else if (elapsed > mostStarved * wallTime) end('starved')
    else if (elapsed - (usage?.waited ?? 0) > wallTime) end('wallTime')
    await sleep(pollInterval, undefined, { signal }).catch(() => undefined)
  }
}

/** Reports the last line of each piece of output; lines that are not progress are ignored. */
function followProgress(stream: Readable | Writable | null | undefined, onProgress: OnProgress): void {
  if (!stream || !('read' in stream)) return
  let rest = ''
  stream.setEncoding('latin1')
  stream.on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop()?.slice(0, maxProgressLine) ?? ''
    const [, done, total] = progressLine.exec(lines.at(-1) ?? '') ?? []
    if (Number(done) <= Number(total)) onProgress(Number(done), Number(total))
  })
  stream.on('error', () => undefined)
}

/** Collects at most `max` bytes, drops the rest, and reports whether there was more. */
function collect(stream: Readable | Writable | null | undefined, max: number, tooMuch: () => void): () => Buffer {
  const chunks: Buffer[] = []
  let size = 0
  if (stream && 'read' in stream) {
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= max) chunks.push(chunk)
      else tooMuch()
    })
    stream.on('error', () => undefined)
  }
  return () => Buffer.concat(chunks)
}

/** Returns the resource usage of a process; `undefined` if it has ended, or the system does not provide it. Never throws. */
async function processUsage(pid: number): Promise<ProcessUsage | undefined> {
  try {
    if (process.platform === 'linux') return await linuxUsage(pid)
    return process.platform === 'win32' ? undefined : await posixUsage(pid)
  } catch {
    return undefined
  }
}

async function linuxUsage(pid: number): Promise<ProcessUsage | undefined> {
  const [status, stat] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
  ])
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  // The name before may hold anything; user and system time are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (kilobytes === undefined) return undefined
  const ticks = Number(fields[11]) + Number(fields[12])
  const usage = { memory: Number(kilobytes) * 1024, cpuTime: (ticks * 1000) / ticksPerSecond }
  return { ...usage, waited: await longestWait(pid) }
}

/** Returns the wait of the thread that waited longest for a processor, in nanoseconds: the second field of `schedstat`. */
async function longestWait(pid: number): Promise<number> {
  try {
    const folder = `/proc/${pid}/task`
    const threads = await readdir(folder)
    const stats = await Promise.all(threads.map((thread) => readFile(`${folder}/${thread}/schedstat`, 'utf8')))
    return Math.max(...stats.map((stat) => Number(stat.split(' ')[1]))) / 1e6
  } catch {
    return 0 // a thread has ended, or the system keeps no figures
  }
}

async function posixUsage(pid: number): Promise<ProcessUsage | undefined> {
  const { stdout } = await run('ps', ['-o', 'rss=,time=', '-p', String(pid)])
  const [kilobytes, time] = stdout.trim().split(/\s+/)
  if (kilobytes === undefined || time === undefined) return undefined
  // `[[days-]hours:]minutes:seconds`
  const seconds = time.split(/[-:]/).reduceRight(
    ({ sum, unit, next }, part) => ({
      sum: sum + Number(part) * unit,
      unit: unit * (next[0] ?? 0),
      next: next.slice(1),
    }),
    { sum: 0, unit: 1, next: [60, 60, 24] },
  ).sum
  return { memory: Number(kilobytes) * 1024, cpuTime: seconds * 1000, waited: 0 }
}
