import type { Chunk } from '../rules/neurons/chunk.ts'
import { answerQuery } from './answer/answer-query.ts'
import { packPassages } from './answer/pack-passages.ts'
import { highlight } from './excerpt/highlight.ts'
import { Deadline } from './index/deadline.ts'
import type { IndexParts } from './index/term-engine.ts'
import { parseQuery } from './query/parse-query.ts'
import { Synonyms } from './query/synonyms.ts'
import { beyondChance, type Nearness } from './rank/fuse.ts'
import { type FeedbackParameters, feedbackParameters } from './rank/relevance-feedback.ts'
import { retrieveChunks } from './rank/retrieve-chunks.ts'
import type { ChunkHit, PageHit, PageHits, RetrieveOptions, Scope, SearchOptions } from './search-index.ts'
import type { KbVectors } from './vectors/vector-index.ts'

/** Milliseconds of CPU time for a query, and for a question. */
const timeLimits = { query: 250, question: 1000 }

/** Answers queries from the parts of an index. */
export class IndexReader {
  protected parts: IndexParts
  readonly #language: string
  /** Vectors of the index. Undefined if search uses words alone. */
  readonly vectors: KbVectors | undefined
  #synonyms: { made: string; table: Synonyms } | undefined

  constructor(parts: IndexParts, language: string, vectors: KbVectors | undefined) {
    this.parts = parts
    this.#language = language
    this.vectors = vectors
  }

  /** Returns pages that match a query, best first. @throws {QueryError} for a query beyond the limits @throws {SearchTimeout} */
  search(q: string, scope: Scope, { isTyped = false, hasFacets = false, synonyms = [] }: SearchOptions = {}): PageHits {
    const { parts } = this
    const parsed = parseQuery(q, parts.analyser, { isTyped, synonyms: this.#synonymsOf(synonyms) })
    if (parsed === undefined) return { hits: [], total: 0, matched: 'all' }
    const deadline = new Deadline(timeLimits.query)
    return parts.store.reading(() => answerQuery(q, parsed, parts, { scope, hasFacets, deadline }))
  }

  /** Returns chunks for a question in natural language, by terms and by meaning, best first. @throws {SearchTimeout} @param options.feedback other parameters than the default, for benchmarks */
  retrieve(
    question: string,
    scope: Scope,
    {
      reach = 'chunk',
      packing,
      vector,
      synonyms = [],
      filters = [],
      feedback = feedbackParameters,
    }: RetrieveOptions & { feedback?: FeedbackParameters } = {},
  ): ChunkHit[] {
    const near = vector && ((allowedPages: { pages: Uint8Array }) => this.vectors?.near(vector, allowedPages))
    const limit = new Deadline(timeLimits.question)
    const table = this.#synonymsOf(synonyms)
    const { parts } = this
    const { analyser, store } = parts
    return store.reading(() => {
      const hits = retrieveChunks(question, parts, {
        ...{ scope, reach, limit, filters, near, synonyms: table, feedback },
      })
      const pageOf = (key: string) => store.find(key)?.id ?? 0
      const reading = {
        language: this.#language,
        analyser,
        titleOf: (key: string) => store.title(pageOf(key)),
        chunkAt: (key: string, ordinal: number) => chunkAt(parts, pageOf(key), ordinal),
      }
      return packing === undefined ? hits : packPassages(hits, packing, reading)
    })
  }

  /** Returns pages near the vector of a query, best first. */
  near(vector: Float32Array, scope: Scope): PageHit[] {
    const { parts } = this
    return parts.store.reading(() => {
      const nearness = this.vectors?.near(vector, parts.catalog.visible(scope))
      const { offset = 0, limit } = scope
      return nearness === undefined ? [] : nearPages(nearness, offset + limit, parts).slice(offset)
    })
  }

  /** Analyses synonyms once for as long as they stay the same. */
  #synonymsOf(groups: readonly (readonly string[])[]): Synonyms {
    const made = JSON.stringify(groups)
    const { analyser } = this.parts
    if (this.#synonyms?.made !== made) this.#synonyms = { made, table: new Synonyms(groups, analyser) }
    return this.#synonyms.table
  }
}

function chunkAt({ catalog, store }: IndexParts, page: number, ordinal: number): Chunk | undefined {
  const { from, to } = catalog.chunkRange(page)
  const id = from + ordinal
  return ordinal < 0 || id >= to ? undefined : store.chunks.chunk(id)
}

/** Maximum pages found by meaning: further ones are about other things. */
const maxPages = 10
const maxChunks = 50

/** Returns the pages nearest to a query by meaning, best first, each with the beginning of its nearest chunk. */
function nearPages(nearness: Nearness, limit: number, { analyser, store, catalog }: IndexParts): PageHit[] {
  const near = beyondChance(nearness.nearest(maxChunks), nearness.count)
  const pages = new Map<number, PageHit>()
  for (const { chunk, page, score } of near) {
    if (pages.size === Math.min(limit, maxPages)) break
    if (pages.has(page)) continue
    const excerpt = highlight(store.chunks.chunk(chunk).text, [], analyser)
    pages.set(page, { key: catalog.keyOf(page), highlight: excerpt, rank: score / (near[0]?.score ?? 1) })
  }
  return [...pages.values()]
}
