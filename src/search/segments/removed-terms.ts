import { boundary } from '../index/page-terms.ts'

/** A page that is gone, and the terms of its chunks. */
type RemovedPage = { class: number; chunks: readonly { terms: string }[] }
type Count = { chunks: number; pages: number }

/**
 * In how many chunks and pages that are gone, but still in a segment, each term is. Less by these, the counts of the segments are
 * those of what there is.
 */
export class RemovedTerms {
  readonly #counts = new Map<number, Map<string, Count>>()

  add(page: RemovedPage): void {
    this.#change(page, 1)
  }

  /** A page is in no segment any more. */
  subtract(page: RemovedPage): void {
    this.#change(page, -1)
  }

  countOf(term: string, ofPages: number): Count | undefined {
    return this.#counts.get(ofPages)?.get(term)
  }

  #change({ class: ofPage, chunks }: RemovedPage, amount: 1 | -1): void {
    const counts = this.#counts.get(ofPage) ?? new Map<string, Count>()
    this.#counts.set(ofPage, counts)
    const terms = chunks.map((chunk) => new Set(chunk.terms.split(' ')))
    for (const term of terms.flatMap((ofChunk) => [...ofChunk])) countFor(counts, term).chunks += amount
    for (const term of terms.reduce((all, ofChunk) => all.union(ofChunk), new Set<string>())) {
      const count = countFor(counts, term)
      count.pages += amount
      if (count.pages === 0 || term === '' || term === boundary) counts.delete(term)
    }
  }
}

function countFor(counts: Map<string, Count>, term: string): Count {
  const known = counts.get(term)
  if (known !== undefined) return known
  const made = { chunks: 0, pages: 0 }
  counts.set(term, made)
  return made
}
