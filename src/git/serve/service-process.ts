import { type ChildProcess, spawn } from 'node:child_process'
import { Duplex, PassThrough, type Readable, type Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { GitError } from '../git-error.ts'
import { gitEnvironment, isolation, signalGroup } from '../git-process.ts'

export type ServiceProcessOptions = {
  /** Names git's subcommand in messages. */
  service: string
  config: readonly string[]
  args: readonly string[]
  /** Value of `GIT_PROTOCOL`. */
  protocol: string | undefined
  /** How many channels git and its hooks inherit, from file descriptor 3 on. */
  channels: number
  /** Of CPU time, of each process. */
  cpuSeconds: number
  /** Bytes of address space, of each process. Files that are mapped into memory count. */
  maxMemory: number
  /** Milliseconds from the start to the end. */
  wallTime: number
  signal: AbortSignal
}

/** Milliseconds that a push has to end by itself, and git then has to die of a signal. */
const endTime = 3000
const dieTime = 1000
/** What the shell exits with where there is no git. */
const noProgram = 127
const failedStart = 'a failed start'
/** Bytes of what git says of a failure that are kept. */
const maxComplaint = 8 * 1024

/** What git says of a request that it cannot understand, or that ends too early. */
const blamesClient =
  /^fatal: .*(?:protocol error|hung up unexpectedly|unknown capability|invalid command|unexpected line|expected (?:flush|SHA1))/m

/** A git that serves a client, with all that it starts in a process group of its own, so that nothing of it is left behind. */
export class ServiceProcess {
  readonly stdin: Writable
  readonly output: Readable
  /** The server's ends; each reads and writes. */
  readonly channels: readonly Duplex[]
  /** Resolves when git and what it started have ended, however they did. */
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  readonly #service: string
  readonly #stdout: Readable
  #failure: unknown
  #killing: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(gitDir: string, options: ServiceProcessOptions) {
    const { service, config, args, protocol, channels } = options
    const settings = config.flatMap((setting) => ['-c', setting])
    this.#service = service
    this.#child = spawn(
      'sh',
      ['-c', `${boundedBy(options)}; exec git "$@"`, 'git', ...isolation, ...settings, service, ...args],
      {
        cwd: gitDir,
        env: { ...gitEnvironment(gitDir), ...(protocol === undefined ? {} : { GIT_PROTOCOL: protocol }) },
        detached: true,
        stdio: Array.from({ length: 3 + channels }, () => 'pipe' as const),
      },
    )
    const [stdin, stdout, stderr, ...others] = this.#child.stdio.filter((stream) => stream instanceof Duplex)
    if (stdin === undefined || stdout === undefined || stderr === undefined)
      throw new GitError('git-failed', 'no pipes')
    this.stdin = stdin.on('error', () => {})
    this.#stdout = stdout
    this.output = stdout.pipe(new PassThrough())
    options.signal.addEventListener('abort', () => this.discardOutput())
    this.channels = others.map((channel) => channel.on('error', () => {}))
    this.ended = this.#untilEnded(stderr, options)
  }

  /** Why it failed or was ended, once it has ended. */
  get failure(): unknown {
    return this.#failure
  }

  /** Whether git has begun to answer, or has ended without an answer. */
  get hasAnswered(): boolean {
    return this.#hasEnded || this.output.readableDidRead || this.output.readableLength > 0
  }

  /** Ends the output. Git can go on writing, to come to its end. */
  discardOutput(): void {
    this.output.destroy()
    this.#stdout.resume()
  }

  /**
   * Ends it; `reason` becomes its failure, unless it has one. A push first has its input and the answers of its hooks cut off:
   * so git refuses it and removes its objects, which it does not when it dies of a signal.
   */
  stop(reason: unknown): void {
    if (this.#hasEnded) return
    this.#failure ??= reason
    if (this.#killing !== undefined) return
    this.#cutOff()
    const kill = () => {
      signalGroup(this.#child, 'SIGTERM')
      this.#killing = setTimeout(() => signalGroup(this.#child, 'SIGKILL'), dieTime)
    }
    this.#killing = setTimeout(kill, this.channels.length > 0 ? endTime : 0)
  }

  #cutOff(): void {
    for (const stream of [this.stdin, ...this.channels]) stream.destroy()
  }

  async #untilEnded(stderr: Readable, { wallTime, signal }: ServiceProcessOptions): Promise<void> {
    const abort = () => this.stop(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(
      () => this.stop(new GitError('git-failed', `git ${this.#service} took too long`)),
      wallTime,
    )
    const complaint = collectBeginning(stderr)
    const exit = await exitOf(this.#child)
    this.#cutOff()
    // All that git started holds it, too.
    await finished(stderr).catch(() => {})
    this.#hasEnded = true
    clearTimeout(timer)
    clearTimeout(this.#killing)
    signal.removeEventListener('abort', abort)
    if (exit === 0) return
    this.#failure ??= new GitError(codeOf(exit, complaint()), `git ${this.#service} ended with ${exit}: ${complaint()}`)
  }
}

/** Limits of a process that its children inherit. Not every system can limit the address space. */
function boundedBy({ cpuSeconds, maxMemory }: ServiceProcessOptions): string {
  return `ulimit -t ${cpuSeconds}; ulimit -v ${Math.ceil(maxMemory / 1024)} 2>/dev/null`
}

function codeOf(exit: number | string, complaint: string): GitError['code'] {
  if (exit === noProgram || String(exit).startsWith(failedStart)) return 'no-git'
  return blamesClient.test(complaint) ? 'bad-request' : 'git-failed'
}

/** Exit code or signal; words where it could not be started. */
function exitOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'nothing'))
    child.once('error', (error) => resolve(`${failedStart} (${error.message})`))
  })
}

function collectBeginning(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < maxComplaint) text += chunk.slice(0, maxComplaint - text.length)
  })
  return () => text
}
