import type { ScoredChunk } from '../index/term-engine.ts'
import type { Nearness } from '../rank/fuse.ts'
import { type PageOrder, TopChunks } from '../rank/scores.ts'
import type { Quantised, SignRows } from './sign-rows.ts'

/** Maps rows of vectors to chunks and back. */
type VectorPlaces = {
  /** Chunk of each row. */
  chunks: readonly number[]
  /** Row of each chunk. */
  rowOf: readonly number[]
  catalog: PageOrder
}

/** Number of rows in the sample for mean and deviation, which makes the mean accurate to a thirtieth of the deviation. */
const sampleSize = 1000
/** Number of rows whose exact cosines are computed, per requested result. */
const perNearest = 20
const hidden = 0xffff

/** Access to vectors, most of which are not in memory. */
export type Vectors = {
  signs: SignRows
  /** Returns the exact cosine of a row and the question; undefined if the row was removed. */
  cosine: (row: number) => number | undefined
}

/**
 * Finds the nearest chunks in two stages: the sign distances of all visible rows select candidates, whose exact cosines rank
 * them. So scores are those of an exact search, but for the error of a sample; it only misses chunks whose signs mislead. The
 * sample depends on visible vectors alone.
 */
export class EstimatedNearness implements Nearness {
  readonly #vectors: Vectors
  readonly #distances: Uint16Array
  readonly #places: VectorPlaces
  readonly #mean: number
  readonly #deviation: number
  readonly count: number

  /** Computes distances, mean and deviation. */
  constructor(query: Quantised, vectors: Vectors, places: VectorPlaces, isVisible: (chunk: number) => boolean) {
    const { chunks } = places
    const distanceOf = vectors.signs.distancesTo(query)
    this.#distances = new Uint16Array(chunks.length)
    let count = 0
    for (let row = 0; row < chunks.length; row++) {
      const isSeen = isVisible(chunks[row] ?? 0)
      this.#distances[row] = isSeen ? distanceOf(row) : hidden
      if (isSeen) count++
    }
    this.count = count
    this.#vectors = vectors
    this.#places = places
    const sample = this.#sample()
    this.#mean = sum(sample) / Math.max(1, sample.length)
    const squares = sum(sample.map((cosine) => (cosine - this.#mean) ** 2))
    this.#deviation = Math.sqrt(squares / Math.max(1, sample.length))
  }

  of(chunk: number): number | undefined {
    const row = this.#places.rowOf[chunk]
    if (row === undefined || (this.#distances[row] ?? hidden) === hidden) return undefined
    return this.#standard(row)
  }

  nearest(limit: number): ScoredChunk[] {
    const { chunks, catalog } = this.#places
    const most = this.#mostOf(perNearest * limit)
    const top = new TopChunks(limit, catalog)
    for (const [row, distance] of this.#distances.entries()) {
      if (distance > most || distance === hidden) continue
      const score = this.#standard(row)
      const chunk = chunks[row] ?? 0
      // Chunks below the mean are not near.
      if (score !== undefined && score >= 0) top.offer({ chunk, page: catalog.pageOf(chunk), score })
    }
    return top.best()
  }

  #standard(row: number): number | undefined {
    const cosine = this.#vectors.cosine(row)
    if (cosine === undefined) return undefined
    return this.#deviation === 0 ? 0 : (cosine - this.#mean) / this.#deviation
  }

  /** Returns the cosines of a sample of visible rows, sorted so that their sum does not depend on the order of the rows. */
  #sample(): number[] {
    const share = (2 ** 32 * sampleSize) / Math.max(1, this.count)
    const cosines: number[] = []
    for (const [row, distance] of this.#distances.entries()) {
      if (distance === hidden || this.#vectors.signs.lotOf(row) >= share) continue
      const cosine = this.#vectors.cosine(row)
      if (cosine !== undefined) cosines.push(cosine)
    }
    return cosines.sort((a, b) => a - b)
  }

  /** Returns the distance of the `limit`-th nearest row, by counting. */
  #mostOf(limit: number): number {
    const counts = new Uint32Array(this.#vectors.signs.farthest + 1)
    for (const distance of this.#distances) if (distance !== hidden) counts[distance] = (counts[distance] ?? 0) + 1
    let found = 0
    return counts.findIndex((count) => {
      found += count
      return found >= Math.min(limit, this.count)
    })
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
