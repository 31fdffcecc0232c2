import type { Chunk } from '../rules/neurons/chunk.ts'
import { answerQuery } from './answer/answer-query.ts'
import { nearPages } from './answer/near-pages.ts'
import { packPassages } from './answer/pack-passages.ts'
import type { Catalog } from './index/catalog.ts'
import { Deadline } from './index/deadline.ts'
import type { IndexStore } from './index/index-store.ts'
import type { TermEngine } from './index/term-engine.ts'
import { parseQuery } from './query/parse-query.ts'
import { Synonyms } from './query/synonyms.ts'
import { type FeedbackParameters, feedbackParameters } from './rank/relevance-feedback.ts'
import { retrieveChunks } from './rank/retrieve-chunks.ts'
import type { ChunkHit, PageHit, PageHits, RetrieveOptions, Scope, SearchIndex, SearchOptions } from './search-index.ts'
import type { Analyser } from './text/analyser.ts'
import type { KbVectors } from './vectors/kb-vectors.ts'

/** Milliseconds of CPU time that a query may take, and a question. */
const timeLimits = { query: 250, question: 1000 }

/** What answers are made from. */
export type IndexParts = { analyser: Analyser; engine: TermEngine; store: IndexStore; catalog: Catalog }

/** Answers queries from the parts of an index. */
export class IndexReader implements Pick<SearchIndex, 'search' | 'retrieve' | 'near'> {
  readonly #parts: () => IndexParts
  readonly #language: string
  readonly #vectors: KbVectors | undefined
  #synonyms: { made: string; table: Synonyms } | undefined

  /** @param parts as they are now */
  constructor(parts: () => IndexParts, language: string, vectors: KbVectors | undefined) {
    this.#parts = parts
    this.#language = language
    this.#vectors = vectors
  }

  search(q: string, scope: Scope, { isTyped = false, hasFacets = false, synonyms = [] }: SearchOptions = {}): PageHits {
    const parts = this.#parts()
    const parsed = parseQuery(q, parts.analyser, { isTyped, synonyms: this.#synonymsOf(synonyms) })
    if (parsed === undefined) return { hits: [], total: 0, matched: 'all' }
    const deadline = new Deadline(timeLimits.query)
    return parts.store.reading(() => answerQuery(q, parsed, parts, { scope, hasFacets, deadline }))
  }

  /** @param options.feedback others than the chosen parameters are for measurements. */
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
    const near = vector && ((among: { pages: Uint8Array }) => this.#vectors?.near(vector, among))
    const limit = new Deadline(timeLimits.question)
    const table = this.#synonymsOf(synonyms)
    const parts = this.#parts()
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

  near(vector: Float32Array, scope: Scope): PageHit[] {
    const parts = this.#parts()
    return parts.store.reading(() => {
      const nearness = this.#vectors?.near(vector, parts.catalog.visible(scope))
      const { offset = 0, limit } = scope
      return nearness === undefined ? [] : nearPages(nearness, offset + limit, parts).slice(offset)
    })
  }

  /** Analysed once for as long as they are the same. */
  #synonymsOf(groups: readonly (readonly string[])[]): Synonyms {
    const made = JSON.stringify(groups)
    const { analyser } = this.#parts()
    if (this.#synonyms?.made !== made) this.#synonyms = { made, table: new Synonyms(groups, analyser) }
    return this.#synonyms.table
  }
}

function chunkAt({ catalog, store }: IndexParts, page: number, ordinal: number): Chunk | undefined {
  const { from, to } = catalog.chunkRange(page)
  const id = from + ordinal
  return ordinal < 0 || id >= to ? undefined : store.chunks.chunk(id)
}
