import { LRUCache } from 'lru-cache'
import type { TermEntry } from '../format/dictionary.ts'
import type { Segment } from '../format/segment.ts'
import { TermPostings } from './posting-list.ts'

/** Bytes of memory that the lists of all indexes take together, roughly. */
const maxSize = 16 * 2 ** 20

const lists = new LRUCache<TermEntry, TermPostings>({ maxSize, sizeCalculation: ({ size }) => size })

/**
 * The postings of a term in a segment. Those that were asked for last are kept, as far as they are decoded: the same words are sought
 * again and again.
 * @param entry known by its identity
 */
export function postingsOf(segment: Segment, entry: TermEntry): TermPostings {
  const known = lists.get(entry)
  if (known !== undefined) return known
  const list = new TermPostings(segment, entry)
  lists.set(entry, list)
  return list
}
