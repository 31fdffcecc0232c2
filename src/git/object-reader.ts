import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { GitError } from './git-error.ts'
import { spawnGit } from './git-process.ts'
import { type GitObject, isOid, type ObjectType, type Oid } from './object.ts'

type Request = { oid: Oid; resolve: (object: GitObject | undefined) => void; reject: (error: Error) => void }

const idleAfterMs = 30_000
const lineFeed = 0x0a

/**
 * Reads objects of one repository through a long-lived `git cat-file --batch`, which sees whatever any writer has
 * packed, loosened or collected meanwhile. The process starts with the first read and ends when idle.
 */
export class ObjectReader {
  readonly #gitDir: string
  readonly #environment: NodeJS.ProcessEnv
  #child: ChildProcessWithoutNullStreams | undefined
  #waiting: Request[] = []
  #chunks: Buffer[] = []
  #buffered = 0
  /** Bytes that must have arrived before it is worth looking at them again. */
  #needed = 1
  #idle: NodeJS.Timeout | undefined

  /** @param environment is added to git's own. */
  constructor(gitDir: string, environment: NodeJS.ProcessEnv = {}) {
    this.#gitDir = gitDir
    this.#environment = environment
  }

  /** The object, or undefined when the repository does not hold it. */
  read(oid: Oid): Promise<GitObject | undefined> {
    // Anything but an object id could be a revision expression or a second request.
    if (!isOid(oid)) return Promise.reject(new GitError('missing-object', 'not an object id'))
    return new Promise((resolve, reject) => {
      clearTimeout(this.#idle)
      this.#child ??= this.#start()
      this.#waiting.push({ oid, resolve, reject })
      this.#child.stdin.write(`${oid}\n`)
    })
  }

  close(): void {
    clearTimeout(this.#idle)
    this.#child?.stdin.end()
    this.#child = undefined
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = spawnGit(this.#gitDir, ['cat-file', '--batch'], this.#environment)
    child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    child.stdin.on('error', () => {})
    child.on('error', () => this.#fail(child))
    child.on('close', () => this.#fail(child))
    return child
  }

  #fail(child: ChildProcessWithoutNullStreams): void {
    if (this.#child !== child && this.#child !== undefined) return
    this.#child = undefined
    this.#chunks = []
    this.#buffered = 0
    this.#needed = 1
    const lost = this.#waiting
    this.#waiting = []
    for (const request of lost) request.reject(new GitError('git-failed', 'git cat-file ended'))
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#buffered += chunk.length
    if (this.#buffered < this.#needed) return
    let data = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    this.#needed = 1
    for (;;) {
      const answer = parseAnswer(data)
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
    if (this.#waiting.length === 0) this.#idle = setTimeout(() => this.close(), idleAfterMs).unref()
  }
}

/** One whole answer of `cat-file --batch` at the start of `data`, or how many bytes it takes to hold one. */
function parseAnswer(data: Buffer): number | { length: number; object: GitObject | undefined; error?: Error } {
  const end = data.indexOf(lineFeed)
  if (end < 0) return data.length + 1
  const [, word = '', size] = data.toString('latin1', 0, end).split(' ')
  if (word === 'missing') return { length: end + 1, object: undefined }
  const bytes = Number(size)
  if (size === undefined || !Number.isSafeInteger(bytes)) {
    return { length: end + 1, object: undefined, error: new GitError('corrupt-object', data.toString('utf8', 0, end)) }
  }
  const length = end + 1 + bytes + 1
  if (data.length < length) return length
  const copy = Buffer.from(data.subarray(end + 1, end + 1 + bytes)) // a view would keep the whole chunk alive
  return { length, object: { type: word as ObjectType, data: copy } }
}
