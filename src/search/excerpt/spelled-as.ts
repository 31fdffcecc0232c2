import type { IndexStore } from '../index/index-store.ts'
import type { ScoredChunk } from '../index/term-engine.ts'
import type { Leaf } from '../query/query-tree.ts'
import type { Analyser } from '../text/analyser.ts'
import { isWithinEdits } from '../text/edit-rows.ts'
import { foldWord } from '../text/fold-word.ts'
import { matchesOf } from './highlight-matches.ts'

/** Edits beyond which one word is as far away as another. */
const maxEdits = 4

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
  const distances = words.map((word) => editsBetween(folded, foldWord(word)))
  const least = Math.min(...distances)
  return words[distances.indexOf(least)]?.toLowerCase()
}

/** Two letters that changed places are one edit: Levenshtein's distance, of two, suggests other words more often. */
function editsBetween(one: string, other: string): number {
  for (let edits = 0; edits < maxEdits; edits++) if (isWithinEdits(one, other, edits)) return edits
  return maxEdits + Math.abs(one.length - other.length)
}
