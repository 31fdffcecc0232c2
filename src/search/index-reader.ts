import type { Chunk } from '../rules/neurons/chunk.ts'
import { memoized } from '../system/memoized.ts'
import { answerQuery } from './answer/answer-query.ts'
import { packPassages } from './answer/pack-passages.ts'
import { highlight } from './excerpt/highlight.ts'
import { countedVocabulary } from './index/chunk-rows.ts'
import { Deadline } from './index/deadline.ts'
import type { IndexParts, ScoredChunk } from './index/term-engine.ts'
import { termsEndingWith } from './query/corrections.ts'
import type { FilterGroup } from './query/filters.ts'
import { parseQuery } from './query/parse-query.ts'
import { particleNouns, type QuestionTerm, questionTerms } from './query/query-words.ts'
import { Synonyms } from './query/synonyms.ts'
import { beyondChance, fuse, type Nearness } from './rank/fuse.ts'
import { type FeedbackParameters, feedback, feedbackParameters } from './rank/relevance-feedback.ts'
import { idf } from './rank/scores.ts'
import type { ChunkHit, PageHit, PageHits, Reach, RetrieveOptions, Scope, SearchOptions } from './search-index.ts'
import { initialismsAsked } from './text/name-terms.ts'
import { type TermTable, termHash } from './text/term-table.ts'
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

/** Returns the nearness of the chunks of some pages, 1 by id; undefined if it is not known. */
type Near = (allowedPages: { pages: Uint8Array }) => Nearness | undefined

/** Weight of a related form, compared with the word of the question: a compound that ends with it, or an initialism. */
const formWeight = 0.5
/** Weight of code compared with prose, for a question in words. */
const codeWeight = 0.8
const inWords = /^[\p{L}\p{M}\p{N}\s,;:.?!'’"()-]*$/u
/** Minimum candidates for feedback. */
const minCandidates = 100

/**
 * Returns the chunks that contain any term of a question in natural language, or are near it by meaning, best first.
 * @param options.near nearness of the chunks to the question; if absent, words alone count
 * @throws {SearchTimeout}
 */
function retrieveChunks(
  question: string,
  parts: IndexParts,
  options: {
    scope: Scope
    reach: Reach
    limit: Deadline
    filters: readonly FilterGroup[]
    near?: Near | undefined
    synonyms: Synonyms
    feedback: FeedbackParameters
  },
): ChunkHit[] {
  const { analyser, engine, store, catalog } = parts
  const { scope, reach, limit, filters, near, synonyms } = options
  const vocabulary = countedVocabulary()
  const visible = catalog.visible(scope)
  const allowedPages = filters.length === 0 ? visible.pages : catalog.passing(filters, visible)
  const chunksWith = (term: string) => engine.chunksWith(term, visible)
  const asked = questionTerms(question, analyser)
  const compounds = particleNouns(question, analyser).filter((term) => chunksWith(term) > 0)
  const termsEnding = (ending: string) => engine.termsEnding(ending, visible, limit)
  const ended = asked.flatMap(({ term }) => termsEndingWith(term, analyser, { chunksWith, termsEnding }))
  const initialisms = initialismsAsked(question, analyser, chunksWith)
  const added = [
    ...compounds.map((term) => ({ term, weight: 1 })),
    ...[...ended, ...initialisms].map((term) => ({ term, weight: formWeight })),
    ...synonyms.ofQuestion(question, analyser),
  ]
  const terms = [...asked]
  for (const one of added) if (!terms.some(({ term }) => term === one.term)) terms.push(one)
  const found = engine.retrieve(terms, visible, Math.max(scope.limit, minCandidates), limit, allowedPages)
  const candidates = worthTelling(found, terms, parts, vocabulary)
  const { chunkCount, averageChunkLength: averageLength } = visible
  const weights = new Map(terms.map(({ term, weight }) => [term, weight]))
  const figures = { chunkCount, averageLength, chunksWith, vocabulary: vocabulary.terms }
  const scores = feedback(candidates, weights, figures, options.feedback)
  const isInWords = inWords.test(question)
  const ranked = candidates
    .map((candidate, index) => {
      const weight = candidate.held.isCode && isInWords ? codeWeight : 1
      return { ...candidate, score: weight * (scores[index] ?? 0) }
    })
    .sort((a, b) => b.score - a.score) // stable: equal scores keep their order
  const nearness = near?.({ pages: allowedPages })
  const fused = nearness && fuse(ranked, nearness, Math.max(scope.limit, minCandidates))
  const rarity = Object.fromEntries(
    asked.map(({ term }) => [term, idf(chunksWith(term), chunkCount) / idf(0, chunkCount)]),
  )
  const chunkOf = memoized((id: number) => store.chunks.chunk(id))
  const told = new Set<number>()
  const hits: ChunkHit[] = []
  const order = fused ?? ranked
  for (const { chunk, page, score } of order) {
    if (hits.length === scope.limit) break
    if (told.has(chunk)) continue
    const { from } = catalog.chunkRange(page)
    const section = reach === 'chunk' ? [chunk] : sectionAround(catalog.chunksOf(page), chunk - from, chunkOf)
    for (const id of section) told.add(id)
    hits.push({
      key: catalog.keyOf(page),
      ordinal: (section[0] ?? chunk) - from,
      chunkCount: section.length,
      ...joinChunks(section.map(chunkOf)),
      rank: score / (order[0]?.score ?? 1),
      rarity,
      ...(fused && { byMeaning: true }),
    })
  }
  return hits
}

/** Drops chunks with terms of the question only in their page's title. If a page has no other chunks, its first chunk represents it. */
function worthTelling(
  found: readonly ScoredChunk[],
  terms: readonly QuestionTerm[],
  { store, catalog }: Pick<IndexParts, 'store' | 'catalog'>,
  vocabulary: TermTable,
) {
  const chunks = found.map((scored) => ({ ...scored, held: store.chunks.termCounts(scored.chunk) }))
  const sought = terms.map(({ term }) => vocabulary.find(term, 0, term.length, termHash(term)))
  const candidates = chunks.map((scored) => {
    const { chunk, page, held } = scored
    return {
      ...scored,
      length: catalog.lengthOf(chunk),
      ordinal: chunk - catalog.chunkRange(page).from,
      isOwn: sought.some((term) => held.own[held.terms.indexOf(term)] === 1),
    }
  })
  const told = new Set(candidates.flatMap(({ page, isOwn }) => (isOwn ? [page] : [])))
  return candidates.filter(({ page, isOwn, ordinal }) => isOwn || (ordinal === 0 && !told.has(page)))
}

/** Maximum characters of a section, to be read in one go. */
const maxLength = 2000

/**
 * Returns a chunk with neighbours under the same headings, as many as fit: those after it, then those before.
 * @param ids of the page's chunks, in order
 * @param at index of the chunk
 * @returns ids, in order
 */
function sectionAround(ids: readonly number[], at: number, chunkOf: (id: number) => Chunk): number[] {
  const [chunk] = ids.slice(at, at + 1)
  if (chunk === undefined) return []
  const { headings, content } = chunkOf(chunk)
  const path = headings.join('\n')
  let length = content.length
  const fitting = (candidates: readonly number[]): number[] => {
    const taken: number[] = []
    for (const id of candidates) {
      const next = chunkOf(id)
      length += separator.length + next.content.length
      if (length > maxLength || next.headings.join('\n') !== path) break
      taken.push(id)
    }
    return taken
  }
  const after = fitting(ids.slice(at + 1))
  const before = fitting(ids.slice(0, at).reverse())
  return [...before.reverse(), chunk, ...after]
}

const separator = '\n\n'

function joinChunks(chunks: readonly Chunk[]): Omit<Chunk, 'text'> {
  return {
    headings: chunks[0]?.headings ?? [],
    content: chunks.map(({ content }) => content).join(separator),
  }
}
