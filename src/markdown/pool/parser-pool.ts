import { availableParallelism } from 'node:os'
import type { Chunk } from '../../rules/neurons/chunk.ts'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { plainChunks } from '../chunks/plain-chunks.ts'
import { type InlineTag, inlineTags } from '../inline-tags.ts'
import { certainLinks, type LinkPlace, maxLinks } from '../links/links.ts'
import { patternLinks } from '../links/pattern-links.ts'
import { hasComplexPart } from '../parse/parse-parts.ts'
import { BudgetPool } from './budget-pool.ts'
import { type IndexedNeuron, readIndexedNeuron } from './indexed-neuron.ts'
import type { PageParts, PageRequest } from './parse-worker.ts'

/**
 * Reason why a text was not fully parsed. The first two depend on the text alone. The others are a last resort for text whose cost was
 * underestimated: the parser used too much CPU time, or exhausted memory or stack.
 */
export type ParseFlag = 'too-complex' | 'too-many-links' | 'too-slow' | 'failed'
type Flagged = { flag?: ParseFlag }

/**
 * Links of a page. If flagged, links of unparsed text were found by pattern, or only the first 20,000 are included and `cutAt` is the
 * 1-based line of the next.
 */
export type ParsedLinks = { links: WikiLink[]; cutAt?: number } & Flagged
/** Chunks of a page. If flagged, unparsed text was split as plain text, see `plainChunks`. */
export type ParsedChunks = { chunks: Chunk[] } & Flagged

/** Returns the CPU time for a text, in milliseconds: some ten times what parsing takes. */
const budgetOf = (characters: number) => 2000 + 0.02 * characters
const idleTimeout = 30_000
/** Maximum characters of a text that is scanned for certain links on the calling thread: a few milliseconds. */
const soonSize = 16 * 1024
const nothing: PageParts = { links: [], chunks: [], isPartial: false }
/** Maximum characters and pages that a thread parses in one task: a message takes about as long as parsing a short page. */
const maxBatch = { characters: 64 * 1024, pages: 64 }
const maxThreads = Math.min(4, Math.max(1, availableParallelism() - 1))
/** Page that waits for a thread. */
type Waiting = { request: PageRequest; resolve: (parts: PageParts & Flagged) => void; reject: (error: Error) => void }

/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const workerFile = new URL(`./parse-worker${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * Parses Markdown so that hostile text cannot block the server: in worker threads, with a budget of CPU time and a heap of 256 MB. Links of
 * a short text that are certain without a parser are returned at once; threads start with the first text that needs one. Rejects only after
 * `close`, so that no page is mistaken for one without links.
 */
export class ParserPool {
  readonly #pool = new BudgetPool<readonly PageRequest[], PageParts[]>({
    worker: workerFile,
    name: 'parseInThread',
    maxThreads,
    idleTimeout,
  })
  readonly #budget: (characters: number) => number
  readonly #waiting: Waiting[] = []
  #running = 0
  #isClosed = false

  /** Creates the pool. @param options.budget returns the CPU time for a text of so many characters, in milliseconds */
  constructor({ budget = budgetOf }: { budget?: (characters: number) => number } = {}) {
    this.#budget = budget
  }

  /** Returns at most 20,000 links of a content. Also sets the flag if its text is too complex. @throws {ParserClosed} */
  async links(content: string): Promise<ParsedLinks> {
    const parsed = soonCertainLinks(content) ?? (await this.#parse({ content, wants: 'links' }))
    const flag = parsedFlag(parsed)
    const links = parsed.flag === undefined ? parsed.links : patternLinks(content, 1)
    const beyond = links[maxLinks]
    if (beyond !== undefined) {
      return { links: links.slice(0, maxLinks), flag: flag ?? 'too-many-links', cutAt: beyond.line }
    }
    return { links, ...(flag === undefined ? {} : { flag }) }
  }

  async chunks(content: string): Promise<ParsedChunks> {
    const parsed = await this.#parse({ content, wants: 'chunks' })
    const flag = parsedFlag(parsed)
    return {
      chunks: parsed.flag === undefined ? parsed.chunks : plainChunks(content),
      ...(flag === undefined ? {} : { flag }),
    }
  }

  /**
   * Returns the tags in a page's text, see `inlineTags`. Finds all of them even if a thread fails, because a tag may hide the page. @throws
   * {ParserClosed}
   */
  async tags(content: string): Promise<InlineTag[]> {
    const isSoon = content.length <= soonSize || !content.includes('#')
    return (isSoon ? undefined : (await this.#parse({ content, wants: 'tags' })).tags) ?? inlineTags(content)
  }

  /** Returns the positions of the links of a content, or `undefined` if it could not be parsed. @throws {ParserClosed} */
  async linkPlaces(content: string): Promise<LinkPlace[] | undefined> {
    return (await this.#parse({ content, wants: 'places' })).places
  }

  /**
   * Returns the fields of a Neuron's file that tables store; undefined if it has no seqId. `isOneOfMany`: a thread reads all of the file.
   * @throws {ParserClosed}
   */
  async neuron(
    path: string,
    text: string,
    { isOneOfMany }: { isOneOfMany: boolean },
  ): Promise<IndexedNeuron | undefined> {
    const parsed = isOneOfMany ? await this.#parse({ content: text, wants: 'neuron', path }) : undefined
    if (parsed !== undefined && parsed.flag === undefined) return parsed.neuron
    const read = readIndexedNeuron(path, text)
    if (read === undefined) return undefined
    const [{ links, flag }, tags] = await Promise.all([this.links(read.shown), this.tags(read.shown)])
    return read.withText({ links, tags, isPartial: flag !== undefined })
  }

  /** Ends all threads and rejects queued requests. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.close()
  }

  #parse(request: PageRequest): Promise<PageParts & Flagged> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      this.#startThreads()
    })
  }

  /** Gives the waiting pages to the threads that have none. */
  #startThreads(): void {
    for (; this.#running < maxThreads && this.#waiting.length > 0; this.#running++) {
      void this.#parseBatch(this.#nextBatch()).finally(() => {
        this.#running--
        this.#startThreads()
      })
    }
  }

  #nextBatch(): Waiting[] {
    let [count, characters] = [0, 0]
    for (const { request } of this.#waiting.slice(0, maxBatch.pages)) {
      characters += request.content.length
      if (count > 0 && characters > maxBatch.characters) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  /** Parses pages in one task. If it fails, each is parsed alone, since one of them may have spoiled the others. */
  async #parseBatch(batch: readonly Waiting[]): Promise<void> {
    const requests = batch.map(({ request }) => request)
    try {
      const characters = requests.reduce((sum, { content }) => sum + content.length, 0)
      const parts = await this.#pool.run(requests, this.#budget(characters))
      for (const [at, { resolve }] of batch.entries()) resolve(parts[at] ?? nothing)
    } catch (error) {
      const flag = error instanceof Error && error.name === 'AbortError' ? 'too-slow' : 'failed'
      if (batch.length > 1 && !this.#isClosed) for (const one of batch) await this.#parseBatch([one])
      else
        for (const { resolve, reject } of batch)
          this.#isClosed ? reject(new ParserClosed()) : resolve({ ...nothing, flag })
    }
  }
}

/** Thrown for requests that were pending when the pool was closed. */
export class ParserClosed extends Error {
  constructor() {
    super('The Markdown parser is closed.')
  }
}

function parsedFlag(parsed: Pick<PageParts, 'isPartial'> & Flagged): ParseFlag | undefined {
  return parsed.flag ?? (parsed.isPartial ? 'too-complex' : undefined)
}

// A long text goes to a thread in any case, so as not to hold up the event loop.

function soonCertainLinks(content: string): (Omit<PageParts, 'chunks'> & Flagged) | undefined {
  const links = content.length <= soonSize ? certainLinks(content) : undefined
  return links && { links, isPartial: hasComplexPart(content) }
}
