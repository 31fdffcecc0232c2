import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GitError } from '../../git-error.ts'
import { type End, noInput, type Order, type RunningProgram } from './launch.ts'
import { connectionHead, type FromSpawner, type ToSpawner } from './protocol.ts'

const program = fileURLToPath(new URL(`./spawner-program${import.meta.url.slice(-3)}`, import.meta.url))
/** It holds nothing but what is on its way. */
const smallHeap = ['--max-old-space-size=64', '--max-semi-space-size=1']

/** Programs that are started at the same time. */
const maxStarting = 32
const spawnerEnded = 'the process that starts git has ended'

type Call = {
  started: PromiseWithResolvers<void>
  ended: PromiseWithResolvers<End>
  pid?: number
}

export class Spawner {
  readonly #process: ChildProcess
  readonly #path: string
  readonly #calls = new Map<string, Call>()
  #starting = 0
  #isSpent = false
  readonly #waiting: (() => void)[] = []
  /** Resolves when the process has ended, however it did. */
  readonly ended: Promise<void>

  private constructor(child: ChildProcess, path: string) {
    this.#process = child
    this.#path = path
    child.on('message', (message: FromSpawner) => this.#hear(message))
    this.ended = new Promise((resolve) => {
      child.once('exit', () => {
        rmSync(dirname(path), { recursive: true, force: true })
        this.#failAll()
        resolve()
      })
    })
    this.#keepAlive()
  }

  static async start(): Promise<Spawner> {
    const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env
    const child = fork(program, [], {
      cwd: '/',
      // A terminal sends its signals to a process group.
      detached: true,
      env: { PATH, TMPDIR, NODE_COMPILE_CACHE },
      execArgv: smallHeap,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const fail = (cause?: unknown) =>
      reject(new GitError('no-git', 'the process that starts git did not start', { cause }))
    child.on('error', fail).once('exit', fail)
    child.once('message', (message: FromSpawner) => message.kind === 'listening' && resolve(message.path))
    return new Spawner(child, await promise)
  }

  /** Waits while too many programs are being started: more connections than the socket's queue takes would be refused. */
  async #enter(): Promise<void> {
    if (this.#starting < maxStarting) this.#starting++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#starting--
    else next()
  }

  /** Starts a program. @throws {GitError} `no-git` if it cannot be started, or the spawner ends first. */
  async launch(order: Order): Promise<RunningProgram> {
    await this.#enter()
    const id = randomUUID()
    const call: Call = { started: Promise.withResolvers(), ended: Promise.withResolvers() }
    call.ended.promise.catch(() => {}) // the caller need not wait for its end
    this.#calls.set(id, call)
    this.#keepAlive()
    this.#tell({ kind: 'start', id, order })
    const stdin = order.hasInput ? this.#connect(id, 0, call) : undefined
    const stdout = this.#connect(id, 1, call)
    const channels = Array.from({ length: order.channels }, (_, index) => this.#connect(id, 3 + index, call))
    try {
      await call.started.promise
    } catch (error) {
      for (const connection of [stdin, stdout, ...channels]) connection?.destroy()
      this.#tell({ kind: 'cancel', id })
      this.#forget(id)
      this.#endIfSpent()
      throw error
    } finally {
      this.#leave()
    }
    const kill = (signal: NodeJS.Signals) => this.#tell({ kind: 'kill', id, signal })
    return { stdin: stdin ?? noInput(), stdout, channels, ended: call.ended.promise, kill }
  }

  /** Whether another should take its place. It ends with the last of its programs. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  #endIfSpent(): void {
    if (this.#isSpent && this.#calls.size === 0 && this.#process.connected) this.#process.disconnect()
  }

  stop(): void {
    this.#process.kill('SIGKILL')
  }

  #connect(id: string, descriptor: number, call: Call): Socket {
    const connection = connect({ path: this.#path, allowHalfOpen: false })
    connection.write(connectionHead(id, descriptor))
    connection.on('error', (cause: NodeJS.ErrnoException) => {
      // The folder for temporary files was removed.
      this.#isSpent ||= cause.code === 'ENOENT'
      call.started.reject(new GitError('no-git', 'git could not be reached', { cause }))
    })
    connection.once('close', () => {
      // The program has ended already, or the spawner could not take the connection: it says which.
      if (call.pid === undefined) this.#tell({ kind: 'cancel', id })
    })
    // Nothing comes from there but the end.
    if (descriptor === 0) connection.resume()
    return connection
  }

  #hear(message: FromSpawner): void {
    if (message.kind === 'listening') return
    const call = this.#calls.get(message.id)
    if (call === undefined) return
    if (message.kind === 'started') {
      call.pid = message.pid
      call.started.resolve()
      return
    }
    this.#forget(message.id)
    if (message.kind === 'ended') {
      call.ended.resolve(message.end)
      this.#endIfSpent()
    } else {
      this.#isSpent ||= message.isSpent
      call.started.reject(new GitError('no-git', `git could not be started: ${message.message}`))
    }
  }

  #tell(message: ToSpawner): void {
    if (this.#process.connected) this.#process.send(message, () => {}) // what cannot be sent has ended with it
  }

  #forget(id: string): void {
    this.#calls.delete(id)
    this.#keepAlive()
  }

  /** The spawner keeps this process from ending only while there is something to hear of it. */
  #keepAlive(): void {
    const change = this.#calls.size > 0 ? 'ref' : 'unref'
    this.#process[change]()
    this.#process.channel?.[change]()
  }

  #failAll(): void {
    for (const [id, { started, ended, pid }] of this.#calls) {
      this.#calls.delete(id)
      started.reject(new GitError('no-git', spawnerEnded))
      ended.reject(new GitError('git-failed', spawnerEnded))
      killGroup(pid)
    }
  }
}

/** Nobody is left to say how it ends. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
