import { LRUCache } from 'lru-cache'
import type { TermEntry } from './dictionary.ts'
import { TermPostings } from './posting-list.ts'
import type { Segment } from './segment.ts'

/** Bytes of memory that the lists take, roughly. */
const maxSize = 8 * 2 ** 20

/** Keeps the postings that were asked for last, as far as they were decoded: the same words are sought again and again. */
export class PostingCache {
  readonly #lists = new LRUCache<TermEntry, TermPostings>({ maxSize, sizeCalculation: ({ size }) => size })

  /** @param entry of the segment, which is known by its identity */
  of(segment: Segment, entry: TermEntry): TermPostings {
    const known = this.#lists.get(entry)
    if (known !== undefined) return known
    const list = new TermPostings(segment, entry)
    this.#lists.set(entry, list)
    return list
  }
}
