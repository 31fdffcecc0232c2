import type { ScoredChunk } from '../index/term-engine.ts'
import type { PageOrder } from './scorer.ts'

/** Which chunk each row of vectors is of, and the other way round. */
export type VectorPlaces = {
  /** By row. */
  chunks: readonly number[]
  /** By chunk. */
  rowOf: readonly number[]
  catalog: PageOrder
}

/**
 * How near the visible chunks with a vector are to a question, in standard scores: by how many standard deviations a chunk is nearer
 * than the mean of all of them. What is not visible is not in the mean.
 */
export interface Nearness {
  /** Visible chunks with a vector. */
  readonly count: number
  /** The standard score of a visible chunk; undefined where it has no vector. */
  of(chunk: number): number | undefined
  /** The chunks that are nearest, best first, by their standard scores. */
  nearest(limit: number): ScoredChunk[]
}
