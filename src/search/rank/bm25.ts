/**
 * Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). Chunks are of much the
 * same length, so that it matters less than for whole documents: b is 0.5, where 0.75 is usual (see docs/benchmarks.md).
 */
const k1 = 1.2
const b = 0.5

/** The weight of a term that is in `n` of `total` units; never negative, as Lucene has it. */
export function idf(n: number, total: number): number {
  return Math.log(1 + (total - n + 0.5) / (n + 0.5))
}

/** What `frequency` occurrences in a unit of this length count for: 0 to k1 + 1. */
export function saturation(frequency: number, length: number, averageLength: number): number {
  return (frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * length) / averageLength))
}
