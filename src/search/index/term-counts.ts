import type { TermTable } from '../text/term-table.ts'
import { boundary } from './page-terms.ts'

/** Different terms of a chunk, in the order of their first occurrence. */
export type TermCounts = {
  /** Indexes in a vocabulary. */
  terms: Uint32Array
  counts: Uint32Array
  /** 1 for each term in the headings or the text, 0 for one that only the page's names have. */
  own: Uint8Array
}

/**
 * Counts terms as `pageTerms` writes them. A repeated text, such as the title, counts once.
 * @param ownAt see `TermPlaces`
 * @param vocabulary gets the terms that it lacks
 */
export function countTerms(terms: string, ownAt: number, vocabulary: TermTable): TermCounts {
  const counts = new Map<number, number>()
  let before = ''
  for (let from = 0; from < terms.length; ) {
    const found = terms.indexOf(boundary, from)
    const to = found < 0 ? terms.length : found
    const text = terms.slice(from, to)
    if (text !== before) {
      for (const term of vocabulary.addTerms(text)) counts.set(term, (counts.get(term) ?? 0) + 1)
    }
    before = text
    from = to + boundary.length
  }
  const own = new Set(vocabulary.findTerms(terms, ownAt))
  const different = Uint32Array.from(counts.keys())
  return {
    terms: different,
    counts: Uint32Array.from(counts.values()),
    own: Uint8Array.from(different, (term) => Number(own.has(term))),
  }
}
