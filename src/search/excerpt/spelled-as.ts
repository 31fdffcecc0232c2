import { distance } from 'fastest-levenshtein'
import type { IndexStore } from '../index/index-store.ts'
import type { ScoredChunk } from '../index/term-engine.ts'
import type { Leaf } from '../query/query-tree.ts'
import type { Analyser } from '../text/analyser.ts'
import { foldWord } from '../text/fold-word.ts'
import { matchesOf } from './highlight-matches.ts'

/**
 * Returns what leaves match in a page as it is written there, in lower case: of several words the one nearest to what was typed, and
 * of those the first. It is looked for in a chunk's text, its headings and the title.
 */
export function spelledAs(
  { page, chunk }: ScoredChunk,
  leaves: readonly Leaf[],
  typed: string,
  { store, analyser }: { store: IndexStore; analyser: Analyser },
): string | undefined {
  const { text, headings } = store.chunks.chunk(chunk)
  const words = [text, ...headings, store.title(page)].flatMap((part) =>
    matchesOf(part, leaves, analyser).map(({ start, end }) => part.slice(start, end)),
  )
  return nearestTo(typed, words)
}

function nearestTo(typed: string, words: readonly string[]): string | undefined {
  const folded = foldWord(typed)
  const distances = words.map((word) => distance(folded, foldWord(word)))
  const least = Math.min(...distances)
  return words[distances.indexOf(least)]?.toLowerCase()
}
