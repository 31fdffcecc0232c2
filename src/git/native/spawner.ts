import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FairSlots } from '../../system/concurrency/fair-slots.ts'
import { GitError } from '../git-error.ts'
import {
  descriptorsOf,
  type End,
  killGroup,
  noInput,
  type Order,
  type RunningProgram,
  type StartProgram,
  startDirectly,
} from './child-program.ts'

const program = fileURLToPath(new URL(`./spawner-program${import.meta.url.slice(-3)}`, import.meta.url))
/** Options that limit the memory of a process without state. */
const smallHeap = ['--max-old-space-size=64', '--max-semi-space-size=1']
/** Maximum concurrent starts: more would use up the file descriptors for connections. */
const startsAtOnce = {
  perKey: 8,
  inAll: 8,
  waiting: Number.POSITIVE_INFINITY,
  waitingPerKey: Number.POSITIVE_INFINITY,
}
const never = new AbortController().signal

/** Response about a program that was not started. `isSpent`: true if the spawner has lost file descriptors, or is gone. */
type Refusal = { error: string; isSpent: boolean }

/**
 * Small process that starts programs for this one (`spawner-program.ts`). A program has one connection to the spawner's Unix socket for
 * each stream, and a control connection: the spawner sends `{ pid }` and then the {@link End}, and receives signals for the program.
 */
export class Spawner {
  readonly #process: ChildProcess
  readonly #path: string
  readonly #slots = new FairSlots(startsAtOnce)
  #programs = 0
  #isSpent = false
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>

  private constructor(child: ChildProcess, path: string) {
    this.#process = child
    this.#path = path
    this.ended = new Promise((resolve) => {
      child.once('exit', () => {
        rmSync(dirname(path), { recursive: true, force: true })
        resolve()
      })
    })
    // Only the connections of programs keep this process alive, not the spawner.
    child.unref()
    child.channel?.unref()
  }

  static async start(): Promise<Spawner> {
    const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env
    const child = fork(program, [], {
      cwd: '/',
      // Separates it from the process group to which a terminal sends signals.
      detached: true,
      env: { PATH, TMPDIR, NODE_COMPILE_CACHE },
      execArgv: smallHeap,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const fail = (cause?: unknown) =>
      reject(new GitError('no-git', 'the process that starts git did not start', { cause }))
    child.on('error', fail).once('exit', fail)
    child.once('message', (path) => resolve(String(path)))
    return new Spawner(child, await promise)
  }

  /** True if another spawner must replace this one, which then ends with its last program. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  /** Starts a program. @throws {GitError} `no-git` if it cannot be started, or the spawner ends first */
  async launch(order: Order): Promise<RunningProgram> {
    const release = await this.#slots.take({ key: '' }, never)
    const id = randomUUID()
    const control = this.#connect({ id, order })
    const streams = descriptorsOf(order).map((descriptor) => this.#connect({ id, descriptor }))
    const answers = answersOn(control)
    const cancel = () => void control.write('cancel\n')
    for (const stream of streams) stream.once('close', cancel)
    this.#programs++
    const answer = await nextAnswer<{ pid: number } | Refusal>(answers)
    release()
    for (const stream of streams) stream.off('close', cancel)
    if ('error' in answer) {
      for (const connection of [control, ...streams]) connection.destroy()
      this.#isSpent ||= answer.isSpent
      this.#leave()
      throw new GitError('no-git', `git could not be started: ${answer.error}`)
    }
    const ended = this.#untilEnded(answers, answer.pid)
    ended.catch(() => {}) // The caller need not await the end.
    const stdin = order.hasInput ? streams.shift() : undefined
    // The end of standard input is noticed only if it is read.
    stdin?.resume()
    const [stdout = control, ...channels] = streams
    const kill = (signal: NodeJS.Signals) => void control.write(`${signal}\n`)
    return { stdin: stdin ?? noInput(), stdout, channels, ended, kill }
  }

  stop(): void {
    this.#process.kill('SIGKILL')
  }

  #connect(head: object): Socket {
    const connection = connect({ path: this.#path })
    connection.on('error', () => {}) // The connection closes after an error.
    connection.write(`${JSON.stringify(head)}\n`)
    return connection
  }

  async #untilEnded(answers: AsyncGenerator<string>, pid: number): Promise<End> {
    const answer = await nextAnswer<End | Refusal>(answers)
    this.#leave()
    if (!('error' in answer)) return answer
    this.#isSpent = true
    killGroup(pid, 'SIGKILL')
    throw new GitError('git-failed', answer.error)
  }

  #leave(): void {
    this.#programs--
    if (this.#isSpent && this.#programs === 0 && this.#process.connected) this.#process.disconnect()
  }
}

async function* answersOn(control: Socket): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of control.setEncoding('utf8')) {
    const lines = `${text}${chunk}`.split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
}

/** Returns the next response, or a refusal if the spawner cannot be reached any more. */
async function nextAnswer<Answer>(answers: AsyncGenerator<string>): Promise<Answer | Refusal> {
  const { value } = await answers.next().catch(() => ({ value: undefined }))
  return value === undefined ? { error: 'the process that starts git has ended', isSpent: true } : JSON.parse(value)
}

/** Milliseconds before another attempt to start a failed spawner. */
const retryMs = 60_000

/**
 * Starts programs directly while this process uses less than `large` bytes of memory, and then through a spawner, which is
 * restarted if it ends. Without a spawner, starts programs directly.
 */
export function programStarter(large: number): StartProgram {
  let current: Promise<Spawner | undefined> | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  const running = async () => {
    const known = current
    if (known !== undefined && (await known)?.isSpent && current === known) current = undefined
    if (current !== undefined || performance.now() - triedAt < retryMs) return current
    triedAt = performance.now()
    const starting = Spawner.start().catch(() => undefined)
    current = starting
    const forget = () => {
      if (current === starting) current = undefined
    }
    starting.then((spawner) => {
      if (spawner === undefined) return forget()
      triedAt = Number.NEGATIVE_INFINITY
      return spawner.ended.then(forget)
    })
    return starting
  }
  return async (order) => {
    const isLarge = process.platform !== 'win32' && residentBytes() >= large
    const spawner = isLarge ? await running() : undefined
    return spawner === undefined ? startDirectly(order) : spawner.launch(order)
  }
}

/** Starter of programs, shared by the whole process. */
export const startProgram = programStarter(160 * 1024 * 1024)

function residentBytes(): number {
  try {
    return process.memoryUsage.rss()
  } catch {
    return Number.POSITIVE_INFINITY // The value comes from a file, which cannot be read without file descriptors.
  }
}
