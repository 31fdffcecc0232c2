import type { Catalog } from '../index/catalog.ts'
import type { ScoredChunk } from '../index/term-engine.ts'
import type { Visible } from '../index/visible.ts'

/**
 * Parameters of Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). Chunks have
 * similar lengths, so length matters less than for whole documents: b is 0.5 instead of the usual 0.75 (see docs/benchmarks.md).
 */
const k1 = 1.2
const b = 0.5

/** Returns the weight of a term in `n` of `total` units. Never negative, as in Lucene. */
export function idf(n: number, total: number): number {
  return Math.log(1 + (total - n + 0.5) / (n + 0.5))
}

/** Returns the score of `frequency` occurrences in a unit of this length: 0 to k1 + 1. */
export function saturation(frequency: number, length: number, averageLength: number): number {
  return (frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * length) / averageLength))
}

/** Postings of a leaf: visible chunks, each once, with frequencies. */
export type ScoredPostings = {
  chunks: readonly number[]
  frequencies: readonly number[]
  /** Counts of all visible chunks and pages, listed here or not. */
  chunkCount: number
  pageCount: number
  weight: number
}

/** Weight of a page's own score in the score of its chunks. */
export const pageShare = 0.5

/** Scores chunks and pages by BM25. Reuses its buffers, which are as long as there are ids. */
export class Scorer {
  readonly #catalog: Catalog
  #ofChunk = new Float64Array(0)
  #ofPage = new Float64Array(0)
  #frequencyInPage = new Float64Array(0)

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** Returns every chunk in any of the lists, in no order. @param allowedPages 1 for each page whose chunks are wanted, by id */
  scoreChunks(lists: readonly ScoredPostings[], visible: Visible, allowedPages = visible.pages): ScoredChunk[] {
    const chunks = this.#accumulate(lists, visible, allowedPages)
    const scored = chunks.map((chunk) => {
      const page = this.#catalog.pageOf(chunk)
      return { chunk, page, score: at(this.#ofChunk, chunk) + pageShare * at(this.#ofPage, page) }
    })
    this.#clear(chunks)
    return scored
  }

  /** Returns every page with a chunk in any of the lists, with its best chunk, in no order. */
  scorePages(lists: readonly ScoredPostings[], visible: Visible, allowedPages = visible.pages): ScoredChunk[] {
    const best = new Map<number, ScoredChunk>()
    for (const scored of this.scoreChunks(lists, visible, allowedPages)) {
      const known = best.get(scored.page)
      if (known === undefined || isBetter(scored, known)) best.set(scored.page, scored)
    }
    return [...best.values()]
  }

  #accumulate(lists: readonly ScoredPostings[], visible: Visible, allowedPages: Uint8Array): number[] {
    this.#grow(lists, visible)
    const touched: number[] = []
    for (const { chunks, frequencies, chunkCount, pageCount, weight } of lists) {
      const chunkWeight = weight * idf(chunkCount, visible.chunkCount)
      const pageWeight = weight * idf(pageCount, visible.pageCount)
      const pages: number[] = []
      for (let i = 0; i < chunks.length; i++) {
        const chunk = chunks[i] ?? 0
        const frequency = frequencies[i] ?? 0
        const page = this.#catalog.pageOf(chunk)
        if (allowedPages[page] !== 1) continue
        if (this.#ofChunk[chunk] === 0) touched.push(chunk)
        const length = this.#catalog.lengthOf(chunk)
        add(this.#ofChunk, chunk, chunkWeight * saturation(frequency, length, visible.averageChunkLength))
        if (this.#frequencyInPage[page] === 0) pages.push(page)
        add(this.#frequencyInPage, page, frequency)
      }
      for (const page of pages) {
        const length = this.#catalog.pageLengths[page] ?? 0
        const frequency = at(this.#frequencyInPage, page)
        add(this.#ofPage, page, pageWeight * saturation(frequency, length, visible.averagePageLength))
        this.#frequencyInPage[page] = 0
      }
    }
    return touched
  }

  #grow(lists: readonly ScoredPostings[], visible: Visible): void {
    let highest = 0
    for (const { chunks } of lists) for (const chunk of chunks) if (chunk > highest) highest = chunk
    if (this.#ofChunk.length <= highest) this.#ofChunk = new Float64Array(2 * highest + 1)
    if (this.#ofPage.length >= visible.pages.length) return
    this.#ofPage = new Float64Array(2 * visible.pages.length)
    this.#frequencyInPage = new Float64Array(2 * visible.pages.length)
  }

  #clear(chunks: readonly number[]): void {
    for (const chunk of chunks) {
      this.#ofChunk[chunk] = 0
      this.#ofPage[this.#catalog.pageOf(chunk)] = 0
    }
  }
}

/** Data that orders pages with equal scores. */
export type PageOrder = Pick<Catalog, 'pageOf' | 'keyOf'>

/** Returns the best `limit` chunks, best first; equal ones by page key and position. */
export function best(scored: readonly ScoredChunk[], limit: number, catalog: PageOrder): ScoredChunk[] {
  const scores = Float64Array.from(scored, ({ score }) => score).sort()
  const least = scores[scores.length - limit] ?? 0
  return scored
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || byPlace(a, b, catalog))
    .slice(0, limit)
}

/** Orders chunks with equal scores by page key and position. */
export function byPlace(a: ScoredChunk, b: ScoredChunk, catalog: PageOrder): number {
  if (a.page === b.page) return a.chunk - b.chunk
  return catalog.keyOf(a.page) < catalog.keyOf(b.page) ? -1 : 1
}

function isBetter(a: ScoredChunk, b: ScoredChunk): boolean {
  return a.score > b.score || (a.score === b.score && a.chunk < b.chunk)
}

function at(array: Float64Array, index: number): number {
  return array[index] ?? 0
}

function add(array: Float64Array, index: number, amount: number): void {
  array[index] = (array[index] ?? 0) + amount
}
