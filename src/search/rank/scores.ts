import TinyQueue from 'tinyqueue'
import type { Catalog } from '../index/catalog.ts'
import type { ScoredChunk } from '../index/term-engine.ts'

/**
 * Parameters of Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). Chunks have
 * similar lengths, so length matters less than for whole documents: b is 0.5 instead of the usual 0.75 (see docs/benchmarks.md).
 */
const k1 = 1.2
const b = 0.5

/** Weight of a page's own score in the score of its chunks. */
export const pageShare = 0.5

/** Returns the weight of a term in `n` of `total` units. Never negative, as in Lucene. */
export function idf(n: number, total: number): number {
  return Math.log(1 + (total - n + 0.5) / (n + 0.5))
}

/** Returns the score of `frequency` occurrences in a unit of this length: 0 to k1 + 1. */
export function saturation(frequency: number, length: number, averageLength: number): number {
  return (frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * length) / averageLength))
}

/** Data that orders pages with equal scores. */
export type PageOrder = Pick<Catalog, 'pageOf' | 'keyOf'>

/** Selects the best of many chunks: by score, then by page key and position. */
export class TopChunks {
  readonly #limit: number
  readonly #order: (a: ScoredChunk, b: ScoredChunk) => number
  /** The best so far, the worst of them first. */
  readonly #queue: TinyQueue<ScoredChunk>

  constructor(limit: number, catalog: PageOrder) {
    this.#limit = limit
    this.#order = (a, b) => b.score - a.score || byPlace(a, b, catalog)
    this.#queue = new TinyQueue([], (a, b) => this.#order(b, a))
  }

  /** Minimum score to be among the best. */
  get threshold(): number {
    return this.#queue.length < this.#limit ? 0 : (this.#queue.peek()?.score ?? Number.POSITIVE_INFINITY)
  }

  offer(scored: ScoredChunk): void {
    if (this.#queue.length >= this.#limit) {
      const worst = this.#queue.peek()
      if (worst === undefined || this.#order(scored, worst) > 0) return
      this.#queue.pop()
    }
    this.#queue.push(scored)
  }

  /** Returns the best chunks, best first. */
  best(): ScoredChunk[] {
    return this.#queue.data.toSorted(this.#order)
  }
}

function byPlace(a: ScoredChunk, b: ScoredChunk, catalog: PageOrder): number {
  if (a.page === b.page) return a.chunk - b.chunk
  return catalog.keyOf(a.page) < catalog.keyOf(b.page) ? -1 : 1
}
