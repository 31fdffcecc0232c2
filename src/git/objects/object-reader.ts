import { GitError } from '../git-error.ts'
import { spawnGit } from '../git-process.ts'
import type { RunningProgram } from '../spawner/running-program.ts'
import { type GitObject, isOid, type ObjectType, type Oid } from './object.ts'

/** A process, from when it is asked for; and what it is to be asked once it runs. */
type Process = { git?: RunningProgram; unasked: Oid[]; isClosed: boolean }
type Request = { oid: Oid; resolve: (object: GitObject | undefined) => void; reject: (error: Error) => void }

const idleAfterMs = 30_000
/** Milliseconds without an answer after which a process that is to answer is taken to hang. */
const hangsAfterMs = 120_000
const lineFeed = 0x0a
/** Far more than any object of a push has. One that came around the server may have more. */
const defaultMaxBytes = 128 * 1024 * 1024

/**
 * Reads objects of one repository through a long-lived `git cat-file --batch`, which sees whatever any writer has
 * packed, loosened or collected meanwhile. The process starts with the first read and ends when idle.
 */
export class ObjectReader {
  readonly #gitDir: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #maxBytes: number
  #process: Process | undefined
  #waiting: Request[] = []
  #chunks: Buffer[] = []
  #buffered = 0
  /** Bytes that must have arrived before it is worth looking at them again. */
  #needed = 1
  #timer: NodeJS.Timeout | undefined

  /**
   * @param environment is added to git's own.
   * @param maxBytes of an object. Larger ones are not read.
   */
  constructor(gitDir: string, environment: NodeJS.ProcessEnv = {}, maxBytes = defaultMaxBytes) {
    this.#gitDir = gitDir
    this.#environment = environment
    this.#maxBytes = maxBytes
  }

  /** The object, or undefined if the repository does not hold it. @throws {GitError} `object-too-large` */
  read(oid: Oid): Promise<GitObject | undefined> {
    // Anything but an object id could be a revision expression or a second request.
    if (!isOid(oid)) return Promise.reject(new GitError('missing-object', 'not an object id'))
    return new Promise((resolve, reject) => {
      this.#ask({ oid, resolve, reject })
    })
  }

  #ask(request: Request): void {
    this.#process ??= this.#start()
    this.#waiting.push(request)
    const { git, unasked } = this.#process
    if (git === undefined) unasked.push(request.oid)
    else send(git, request.oid)
    if (this.#waiting.length === 1) this.#watch()
  }

  /** Ends the process when it has nothing to do for a while, or does nothing. */
  #watch(): void {
    clearTimeout(this.#timer)
    const process = this.#process
    const isIdle = this.#waiting.length === 0
    const end = () => (isIdle ? this.close() : process?.git?.kill('SIGKILL'))
    this.#timer = setTimeout(end, isIdle ? idleAfterMs : hangsAfterMs).unref()
  }

  close(): void {
    clearTimeout(this.#timer)
    if (this.#process !== undefined) this.#process.isClosed = true
    this.#process?.git?.stdin.end()
    this.#process = undefined
  }

  #start(): Process {
    const process: Process = { unasked: [], isClosed: false }
    this.#run(process).catch((error: unknown) => {
      this.#fail(
        process,
        error instanceof GitError ? error : new GitError('git-failed', 'git cat-file', { cause: error }),
      )
    })
    return process
  }

  async #run(process: Process): Promise<void> {
    const git = await spawnGit(this.#gitDir, ['cat-file', '--batch'], {
      environment: this.#environment,
      hasInput: true,
      timeLimit: Number.POSITIVE_INFINITY, // see #watch
    })
    process.git = git
    git.ended.catch(() => {}) // its output ends, too
    git.stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    git.stdout.on('close', () => this.#fail(process, new GitError('git-failed', 'git cat-file ended')))
    for (const oid of process.unasked) send(git, oid)
    if (process.isClosed) git.stdin.end()
  }

  #fail(process: Process, error: GitError): void {
    if (this.#process !== process && this.#process !== undefined) return
    for (const request of this.#forget()) request.reject(error)
  }

  /** Leaves the process, and gives what it was asked and has not answered. */
  #forget(): Request[] {
    this.#process = undefined
    this.#chunks = []
    this.#buffered = 0
    this.#needed = 1
    const asked = this.#waiting
    this.#waiting = []
    return asked
  }

  /** The size comes before the content, which would have to be read to its end. So another process answers the rest. */
  #skipTooLarge(): void {
    this.#process?.git?.stdout.removeAllListeners('data').resume()
    this.#process?.git?.kill('SIGKILL')
    const [tooLarge, ...others] = this.#forget()
    tooLarge?.reject(new GitError('object-too-large', `${tooLarge.oid} has more than ${this.#maxBytes} bytes`))
    for (const request of others) this.#ask(request)
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#buffered += chunk.length
    if (this.#buffered < this.#needed) return
    let data = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    this.#needed = 1
    for (;;) {
      const answer = parseAnswer(data, this.#maxBytes)
      if (answer === 'too-large') {
        this.#skipTooLarge()
        return
      }
      if (typeof answer === 'number') {
        this.#needed = answer
        break
      }
      data = data.subarray(answer.length)
      const request = this.#waiting.shift()
      if (answer.error === undefined) request?.resolve(answer.object)
      else request?.reject(answer.error)
    }
    this.#chunks = data.length === 0 ? [] : [data]
    this.#buffered = data.length
    this.#watch()
  }
}

/** What is asked for in one turn of the event loop is written at once. */
function send({ stdin }: RunningProgram, oid: Oid): void {
  if (stdin.writableCorked === 0) {
    stdin.cork()
    process.nextTick(() => stdin.uncork())
  }
  stdin.write(`${oid}\n`)
}

/** One whole answer of `cat-file --batch` at the start of `data`, or how many bytes it takes to hold one. */
function parseAnswer(
  data: Buffer,
  maxBytes: number,
): number | 'too-large' | { length: number; object: GitObject | undefined; error?: Error } {
  const end = data.indexOf(lineFeed)
  if (end < 0) return data.length + 1
  const [, word = '', size] = data.toString('latin1', 0, end).split(' ')
  if (word === 'missing') return { length: end + 1, object: undefined }
  const bytes = Number(size)
  if (size === undefined || !Number.isSafeInteger(bytes)) {
    return { length: end + 1, object: undefined, error: new GitError('corrupt-object', data.toString('utf8', 0, end)) }
  }
  if (bytes > maxBytes) return 'too-large'
  const length = end + 1 + bytes + 1
  if (data.length < length) return length
  const copy = Buffer.from(data.subarray(end + 1, end + 1 + bytes)) // a view would keep the whole chunk alive
  return { length, object: { type: word as ObjectType, data: copy } }
}
