import { type Duplex, PassThrough, type Readable, type Writable } from 'node:stream'
import { GitError } from '../git-error.ts'
import type { End, RunningProgram } from '../native/child-program.ts'
import { gitEnvironment, isolation } from '../native/git-process.ts'
import { startProgram } from '../native/spawner.ts'

export type ServiceProcessOptions = {
  /** Name of git's subcommand, for messages. */
  service: string
  config: readonly string[]
  args: readonly string[]
  /** Value of `GIT_PROTOCOL`. */
  protocol: string | undefined
  /** Number of channels that git and its hooks inherit, from file descriptor 3 on. */
  channels: number
  /** Maximum seconds of CPU time of each process. */
  cpuSeconds: number
  /** Maximum bytes of address space of each process. Mapped files count. */
  maxMemory: number
  /** Maximum milliseconds from start to end. */
  wallTime: number
  signal: AbortSignal
}

/** Milliseconds for a push to end by itself, and then for git to die of a signal. */
const endTime = 3000
const dieTime = 1000
/** Exit code of the shell if there is no git. */
const noProgram = 127

/** Matches git's messages about a request that it cannot understand, or that ends too early. */
const blamesClient =
  /^fatal: .*(?:protocol error|hung up unexpectedly|unknown capability|unexpected line|expected (?:flush|SHA1)|invalid (?:command|deepen|shallow|filter)|deepen-not)/im

/** Git process that serves a client. All of its processes are in one process group, so that none is left behind. */
export class ServiceProcess {
  readonly stdin: Writable
  readonly output: Readable
  /** Server's ends of the channels, readable and writable. */
  readonly channels: readonly Duplex[]
  /** Resolves when git and its processes have ended, for any reason. */
  readonly ended: Promise<void>
  readonly #git: RunningProgram
  readonly #service: string
  #failure: unknown
  #killing: NodeJS.Timeout | undefined
  #hasEnded = false

  private constructor(git: RunningProgram, options: ServiceProcessOptions) {
    this.#git = git
    this.#service = options.service
    this.stdin = git.stdin.on('error', () => {})
    this.output = git.stdout.pipe(new PassThrough())
    this.channels = git.channels.map((channel) => channel.on('error', () => {}))
    options.signal.addEventListener('abort', () => this.discardOutput(), { once: true })
    this.ended = this.#untilEnded(options)
  }

  /** Starts git. @throws {GitError} `no-git`; the signal's reason if it aborts before git has started */
  static async start(gitDir: string, options: ServiceProcessOptions): Promise<ServiceProcess> {
    const { service, config, args, protocol, channels, signal } = options
    const settings = config.flatMap((setting) => ['-c', setting])
    const git = await startProgram({
      command: 'sh',
      args: ['-c', `${boundedBy(options)}; exec git "$@"`, 'git', ...isolation, ...settings, service, ...args],
      cwd: gitDir,
      env: { ...gitEnvironment(gitDir), ...(protocol === undefined ? {} : { GIT_PROTOCOL: protocol }) },
      ...{ hasInput: true, channels },
    })
    if (signal.aborted) git.kill('SIGKILL')
    signal.throwIfAborted()
    return new ServiceProcess(git, options)
  }

  /** Reason of the failure, once the process has ended. */
  get failure(): unknown {
    return this.#failure
  }

  /** True if git has begun to respond, or has ended without a response. */
  get hasAnswered(): boolean {
    return this.#hasEnded || this.output.readableDidRead || this.output.readableLength > 0
  }

  /** Ends the output, but lets git write to its own end. */
  discardOutput(): void {
    this.output.destroy()
    this.#git.stdout.resume()
  }

  /**
   * Ends the process; `reason` becomes its failure, unless it has one. For a push, its input and the answers of its hooks end
   * first: then git rejects it and removes its objects, which it does not do if it dies of a signal.
   */
  stop(reason: unknown): void {
    if (this.#hasEnded) return
    this.#failure ??= reason
    if (this.#killing !== undefined) return
    this.#cutOff()
    const kill = () => {
      this.#git.kill('SIGTERM')
      this.#killing = setTimeout(() => this.#git.kill('SIGKILL'), dieTime)
    }
    this.#killing = setTimeout(kill, this.channels.length > 0 ? endTime : 0)
  }

  #cutOff(): void {
    for (const stream of [this.stdin, ...this.channels]) stream.destroy()
  }

  async #untilEnded({ wallTime, signal }: ServiceProcessOptions): Promise<void> {
    const abort = () => this.stop(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(
      () => this.stop(new GitError('git-failed', `git ${this.#service} took too long`)),
      wallTime,
    )
    const failure = await this.#git.ended.then(
      (end) => this.#failureOf(end),
      (error: unknown) => error,
    )
    this.#cutOff()
    this.#hasEnded = true
    clearTimeout(timer)
    clearTimeout(this.#killing)
    signal.removeEventListener('abort', abort)
    this.#failure ??= failure
  }

  #failureOf({ exitCode, signal, complaint }: End): GitError | undefined {
    if (exitCode === 0) return undefined
    return new GitError(
      codeOf(exitCode, complaint),
      `git ${this.#service} ended with ${exitCode ?? signal}: ${complaint}`,
    )
  }
}

/** Returns shell commands that limit a process and its children. Not every system can limit the address space. */
function boundedBy({ cpuSeconds, maxMemory }: ServiceProcessOptions): string {
  return `ulimit -t ${cpuSeconds}; ulimit -v ${Math.ceil(maxMemory / 1024)} 2>/dev/null`
}

function codeOf(exitCode: number | null, complaint: string): GitError['code'] {
  if (exitCode === noProgram) return 'no-git'
  return blamesClient.test(complaint) ? 'bad-request' : 'git-failed'
}
