import { availableParallelism } from 'node:os'
import type { Chunk } from '../../rules/neurons/chunk.ts'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { plainChunks } from '../chunks/plain-chunks.ts'
import { type InlineTag, inlineTags } from '../inline-tags.ts'
import type { LinkPlace } from '../links/link-places.ts'
import { certainLinks, maxLinks } from '../links/links.ts'
import { patternLinks } from '../links/pattern-links.ts'
import { hasComplexPart } from '../parse/parse-parts.ts'
import { BudgetPool } from './budget-pool.ts'
import type { PageParts, PageRequest } from './parse-page.ts'

/**
 * Why not everything in a text is seen as its Markdown means it. The first two are told from the text alone. The others are the last
 * resort, for what the estimate of the cost misses: the parser used too much CPU time, or exhausted memory or stack.
 */
export type ParseFlag = 'too-complex' | 'too-many-links' | 'too-slow' | 'failed'
type Flagged = { flag?: ParseFlag }

/**
 * With a flag, links are found by their pattern where the text is not parsed; or they are the first 20,000, and `cutAt` is the 1-based
 * line of the next.
 */
export type ParsedLinks = { links: WikiLink[]; cutAt?: number } & Flagged
/** With a flag, what is not parsed is divided as plain text, see `plainChunks`. */
export type ParsedChunks = { chunks: Chunk[] } & Flagged

type Job = PageRequest & {
  isAlone: boolean
  resolve: (parsed: PageParts & Flagged) => void
  reject: (error: Error) => void
}

/** Milliseconds of CPU time for a task of so many characters: some ten times what parsing takes. */
const budgetOf = (characters: number) => 2000 + 0.02 * characters
const idleTimeout = 30_000
/** Characters of a task, some 50 ms of work: enough to make the way to a thread cheap, far from the time limit. */
const taskSize = 64 * 1024
/** Characters of a text that is looked through for links that are certain without a thread: a few milliseconds. */
const soonSize = 16 * 1024
const nothing: PageParts = { links: [], chunks: [], isPartial: false }
const maxThreads = Math.min(4, Math.max(1, availableParallelism() - 1))
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const workerFile = new URL(`./parse-worker${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * Markdown parsing that hostile text cannot hold up: in worker threads, within a budget of CPU time and a heap of 256 MB. The links
 * of a short text that are certain without a parser are answered at once; threads start with the first text that needs one. Rejects only
 * once it is closed, so that nobody takes a page for one without links.
 */
export class ParserPool {
  readonly #queue: Job[] = []
  readonly #pool = new BudgetPool<PageRequest, PageParts>({
    worker: workerFile,
    name: 'parsePages',
    maxThreads,
    idleTimeout,
  })
  readonly #budget: (characters: number) => number
  #running = 0
  #isClosed = false

  /** @param options.budget the milliseconds of CPU time that a task of so many characters may use. */
  constructor({ budget = budgetOf }: { budget?: (characters: number) => number } = {}) {
    this.#budget = budget
  }

  /** The links of a content, 20,000 at most; flagged where its text is too complex, too. @throws {ParserClosed} */
  async links(content: string): Promise<ParsedLinks> {
    const parsed = soonCertainLinks(content) ?? (await this.#parse(content, 'links'))
    const flag = parsedFlag(parsed)
    const links = parsed.flag === undefined ? parsed.links : patternLinks(content, 1)
    const beyond = links[maxLinks]
    if (beyond !== undefined) {
      return { links: links.slice(0, maxLinks), flag: flag ?? 'too-many-links', cutAt: beyond.line }
    }
    return { links, ...(flag === undefined ? {} : { flag }) }
  }

  async chunks(content: string): Promise<ParsedChunks> {
    const parsed = await this.#parse(content, 'chunks')
    const flag = parsedFlag(parsed)
    return {
      chunks: parsed.flag === undefined ? parsed.chunks : plainChunks(content),
      ...(flag === undefined ? {} : { flag }),
    }
  }

  /** Returns the tags in a page's text, see `inlineTags`. All are found whatever fails in a thread: a tag may hide the page. @throws {ParserClosed} */
  async tags(content: string): Promise<InlineTag[]> {
    const isSoon = content.length <= soonSize || !content.includes('#')
    return (isSoon ? undefined : (await this.#parse(content, 'tags')).tags) ?? inlineTags(content)
  }

  /** Where the links of a content stand; `undefined` where it could not be parsed. @throws {ParserClosed} */
  async linkPlaces(content: string): Promise<LinkPlace[] | undefined> {
    return (await this.#parse(content, 'places')).places
  }

  /** Ends all threads. What waits is rejected. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#dispatch()
    await this.#pool.close()
  }

  #parse(content: string, wants: PageRequest['wants']): Promise<PageParts & Flagged> {
    return new Promise<PageParts & Flagged>((resolve, reject) => {
      this.#queue.push({ content, wants, isAlone: false, resolve, reject })
      this.#dispatch()
    })
  }

  #dispatch(): void {
    while (this.#queue.length > 0 && (this.#isClosed || this.#running < maxThreads)) {
      const jobs = takeTask(this.#queue)
      if (this.#isClosed) for (const job of jobs) job.reject(new ParserClosed())
      else void this.#run(jobs)
    }
  }

  async #run(jobs: Job[]): Promise<void> {
    this.#running++
    try {
      const size = jobs.reduce((sum, { content }) => sum + content.length, 0)
      const requests = jobs.map(({ content, wants }) => ({ content, wants }))
      const results = await this.#pool.run(requests, this.#budget(size))
      for (const [index, job] of jobs.entries()) job.resolve(results[index] ?? nothing)
    } catch (error) {
      const flag = error instanceof Error && error.name === 'AbortError' ? 'too-slow' : 'failed'
      if (this.#isClosed) for (const job of jobs) job.reject(new ParserClosed())
      else if (jobs.length === 1) for (const job of jobs) job.resolve({ ...nothing, flag })
      // One of them is to blame, which shows when each has a task of its own.
      else this.#queue.unshift(...jobs.map((job) => ({ ...job, isAlone: true })))
    } finally {
      this.#running--
      this.#dispatch()
    }
  }
}

/** The pool was closed before it answered. */
export class ParserClosed extends Error {
  constructor() {
    super('The Markdown parser is closed.')
  }
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

function parsedFlag(parsed: Pick<PageParts, 'isPartial'> & Flagged): ParseFlag | undefined {
  return parsed.flag ?? (parsed.isPartial ? 'too-complex' : undefined)
}

// A long text goes to a thread in any case, so as not to hold up the event loop.

function soonCertainLinks(content: string): (Omit<PageParts, 'chunks'> & Flagged) | undefined {
  const links = content.length <= soonSize ? certainLinks(content) : undefined
  return links && { links, isPartial: hasComplexPart(content) }
}
