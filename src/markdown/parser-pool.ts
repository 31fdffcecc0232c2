import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import type { Chunk } from '../knowledge/chunk.ts'
import type { WikiLink } from '../knowledge/neuron.ts'
import { certainChunks } from './chunks.ts'
import type { LinkPlace } from './link-places.ts'
import { certainLinks } from './links.ts'
import type { PageParts, PageRequest } from './parse-page.ts'
import type { ParseTask } from './parse-worker.ts'
import { plainChunks } from './plain-chunks.ts'

/** Why a text was not parsed: it took too long, or exhausted memory or stack. */
type Flagged = { flag?: 'too-slow' | 'failed' }

/** With a flag only those that are certain without a parser. */
export type ParsedLinks = { links: WikiLink[] } & Flagged
/** With a flag they are those of the text as it is, see `plainChunks`. */
export type ParsedChunks = { chunks: Chunk[] } & Flagged
export type ParsedPage = ParsedLinks & ParsedChunks

type Job = PageRequest & { isAlone: boolean; resolve: (parsed: PageParts & Flagged) => void }

const timeLimit = 2000
const heapLimitMb = 128
const idleTimeout = 30_000
/** Characters of a task, some 50 ms of work: enough to make the way to a thread cheap, far from the time limit. */
const taskSize = 64 * 1024
/** Characters of a text that is looked through for certain chunks without a thread: a few milliseconds. */
const soonSize = 16 * 1024
const nothing: PageParts = { links: [], chunks: [] }
const maxThreads = Math.min(4, Math.max(1, availableParallelism() - 1))
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const workerFile = new URL(`./parse-worker${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * Markdown parsing that hostile text cannot hold up: in worker threads, each task within 2 s and a heap of 128 MB. What is
 * certain without a parser is answered at once; threads start with the first text that needs one. No method rejects.
 */
export class ParserPool {
  readonly #queue: Job[] = []
  #pool: Piscina<ParseTask, PageParts[]> | undefined
  #running = 0
  #isClosed = false

  /** The wiki links of a content. */
  async links(content: string): Promise<ParsedLinks> {
    const certain = certainLinks(content)
    if (certain) return { links: certain }
    const { chunks: _, ...parsed } = await this.#parse(content, 'links')
    return parsed
  }

  /** The wiki links of each content, in the order given. */
  linksOfMany(contents: readonly string[]): Promise<ParsedLinks[]> {
    return Promise.all(contents.map((content) => this.links(content)))
  }

  /** The chunks of a content. */
  async chunks(content: string): Promise<ParsedChunks> {
    const certain = soonCertainChunks(content)
    if (certain) return { chunks: certain }
    const { links: _, ...parsed } = await this.#parse(content, 'chunks')
    return parsed
  }

  /** The wiki links and the chunks of a content. */
  async page(content: string): Promise<ParsedPage> {
    const links = certainLinks(content)
    const chunks = soonCertainChunks(content)
    if (links && chunks) return { links, chunks }
    const parsed = await this.#parse(content, links ? 'chunks' : 'both')
    return links ? { ...parsed, links } : parsed
  }

  /** Where the wiki links of a content stand; `undefined` where it could not be parsed. */
  async linkPlaces(content: string): Promise<LinkPlace[] | undefined> {
    return (await this.#parse(content, 'places')).places
  }

  /** Ends all threads. What waits is answered as failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#dispatch()
    await this.#pool?.destroy()
  }

  async #parse(content: string, wants: PageRequest['wants']): Promise<PageParts & Flagged> {
    const parsed = await new Promise<PageParts & Flagged>((resolve) => {
      this.#queue.push({ content, wants, isAlone: false, resolve })
      this.#dispatch()
    })
    if (parsed.flag === undefined || wants === 'links' || wants === 'places') return parsed
    return { ...parsed, chunks: plainChunks(content) }
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
      const results = await this.#work(jobs.map(({ content, wants }) => ({ content, wants })))
      for (const [index, job] of jobs.entries()) job.resolve(results[index] ?? nothing)
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

  async #work(requests: PageRequest[]): Promise<PageParts[]> {
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
      return await this.#pool.run({ requests, started }, { signal: limit.signal })
    } finally {
      isDone = true
      clearTimeout(timer)
      Atomics.notify(started, 0)
    }
  }
}

function startPool(): Piscina<ParseTask, PageParts[]> {
  const pool = new Piscina<ParseTask, PageParts[]>({
    filename: workerFile.href,
    name: 'parsePages',
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
  for (const job of jobs) job.resolve({ ...nothing, flag })
}

/** A long text goes to a thread in any case, so as not to hold up the event loop. */
function soonCertainChunks(content: string): Chunk[] | undefined {
  return content.length <= soonSize ? certainChunks(content) : undefined
}
