import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import type { WikiLink } from '../knowledge/neuron.ts'
import { certainLinks } from './links.ts'
import type { LinkTask } from './parse-worker.ts'

/** With a flag there are no links: the text took too long, or exhausted memory or stack. */
export type ParsedLinks = { links: WikiLink[]; flag?: 'too-slow' | 'failed' }

type Job = { content: string; isAlone: boolean; resolve: (parsed: ParsedLinks) => void }

const timeLimit = 2000
const heapLimitMb = 128
const idleTimeout = 30_000
/** Characters of a task, some 50 ms of work: enough to make the way to a thread cheap, far from the time limit. */
const taskSize = 64 * 1024
const maxThreads = Math.min(4, Math.max(1, availableParallelism() - 1))
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const workerFile = new URL(`./parse-worker${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * Markdown parsing that hostile text cannot hold up: in worker threads, each task within 2 s and a heap of 128 MB. Texts
 * whose links are certain without a parser are answered at once; threads start with the first text that needs one.
 */
export class ParserPool {
  readonly #queue: Job[] = []
  #pool: Piscina<LinkTask, WikiLink[][]> | undefined
  #running = 0
  #isClosed = false

  /** The wiki links of a content. Never rejects. */
  links(content: string): Promise<ParsedLinks> {
    const links = certainLinks(content)
    if (links) return Promise.resolve({ links })
    return new Promise((resolve) => {
      this.#queue.push({ content, isAlone: false, resolve })
      this.#dispatch()
    })
  }

  /** The wiki links of each content, in the order given. */
  linksOfMany(contents: readonly string[]): Promise<ParsedLinks[]> {
    return Promise.all(contents.map((content) => this.links(content)))
  }

  /** Ends all threads. What waits is answered as failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#dispatch()
    await this.#pool?.destroy()
  }

  #dispatch(): void {
    while (this.#queue.length > 0 && (this.#isClosed || this.#running < maxThreads)) {
      const jobs = takeTask(this.#queue)
      if (this.#isClosed) answerAll(jobs, 'failed')
      else void this.#run(jobs)
    }
  }

  async #run(jobs: Job[]): Promise<void> {
    this.#running++
    try {
      const results = await this.#work(jobs.map(({ content }) => content))
      for (const [index, job] of jobs.entries()) job.resolve({ links: results[index] ?? [] })
    } catch (error) {
      const isTooSlow = error instanceof Error && error.name === 'AbortError'
      if (jobs.length === 1) answerAll(jobs, isTooSlow ? 'too-slow' : 'failed')
      // One of them is to blame, which shows when each has a task of its own.
      else this.#queue.unshift(...jobs.map((job) => ({ ...job, isAlone: true })))
    } finally {
      this.#running--
      this.#dispatch()
    }
  }

  async #work(contents: string[]): Promise<WikiLink[][]> {
    this.#pool ??= startPool()
    const started = new Int32Array(new SharedArrayBuffer(4))
    const limit = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let isDone = false
    // The time that a new thread takes to start is not the text's fault.
    void Promise.resolve(Atomics.waitAsync(started, 0, 0).value).then(() => {
      if (!isDone) timer = setTimeout(() => limit.abort(), timeLimit)
    })
    try {
      return await this.#pool.run({ contents, started }, { signal: limit.signal })
    } finally {
      isDone = true
      clearTimeout(timer)
      Atomics.notify(started, 0)
    }
  }
}

function startPool(): Piscina<LinkTask, WikiLink[][]> {
  const pool = new Piscina<LinkTask, WikiLink[][]>({
    filename: workerFile.href,
    name: 'linksOf',
    minThreads: 0,
    maxThreads,
    idleTimeout,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapLimitMb },
  })
  // A thread that dies with a task rejects the task; one that dies idle is replaced when needed, and nobody waits for it.
  pool.on('error', () => undefined)
  return pool
}

/** The next jobs that make one task: as many as fit, or one that must be alone. */
function takeTask(queue: Job[]): Job[] {
  let size = 0
  let count = 0
  for (const { content, isAlone } of queue) {
    size += content.length
    if (count > 0 && (isAlone || size > taskSize)) break
    count++
    if (isAlone) break
  }
  return queue.splice(0, count)
}

function answerAll(jobs: readonly Job[], flag: 'too-slow' | 'failed'): void {
  for (const job of jobs) job.resolve({ links: [], flag })
}
