import { distance } from 'fastest-levenshtein'
import { parseSeqId } from '../neurons/seq-id.ts'
import { FeatureIndex } from './lint-features.ts'

/** Names that share the most with a target; the likeness of these is looked at. */
const looked = 20
const maxLikely = 3
const minSpelledLength = 5
const maxEdits = 3

/** The names of a knowledge base's Neurons, by their keys, to find what a target that is none of them may mean. */
export class NameIndex {
  readonly #index = new FeatureIndex()
  readonly #seqIds = new Map<string, Set<string>>()

  add(key: string, seqId: string): void {
    const seqIds = this.#seqIds.get(key)
    if (seqIds !== undefined) {
      seqIds.add(seqId)
      return
    }
    this.#seqIds.set(key, new Set([seqId]))
    this.#index.add(key, trigrams(key))
  }

  /** The Neurons that a key is likely meant for, three at most, the likeliest first. */
  likely(key: string): string[] {
    // Of two seqIds that differ in a digit one is as good as the other.
    if (parseSeqId(key.replaceAll(' ', '_')) !== undefined) return []
    const names = this.#index
      .sharing(trigrams(key), looked)
      .map((name) => ({ name, likeness: likeness(key, name) }))
      .filter((found) => found.likeness > 0)
      .sort((a, b) => b.likeness - a.likeness)
    return [...new Set(names.flatMap(({ name }) => [...(this.#seqIds.get(name) ?? [])].sort()))].slice(0, maxLikely)
  }
}

/**
 * 0 to 1, and 0 where one name can hardly be meant by the other: that takes a slip of at most 3 characters and 3 in 10, or two
 * thirds of the words of both, and two words at least. Another number is never a slip.
 */
function likeness(a: string, b: string): number {
  if (digitsOf(a) !== digitsOf(b)) return 0
  return Math.max(likenessOfSpelling(a, b), likenessOfWords(a, b))
}

function likenessOfSpelling(a: string, b: string): number {
  const length = Math.max(a.length, b.length)
  if (Math.min(a.length, b.length) < minSpelledLength || Math.abs(a.length - b.length) > maxEdits) return 0
  const edits = distance(a, b)
  return edits <= Math.min(maxEdits, 0.3 * length) ? 1 - edits / length : 0
}

function likenessOfWords(a: string, b: string): number {
  const [words, others] = [new Set(wordsOf(a)), new Set(wordsOf(b))]
  const shared = words.intersection(others).size
  const jaccard = shared / words.union(others).size
  return shared >= 2 && jaccard >= 2 / 3 ? jaccard : 0
}

function digitsOf(name: string): string {
  return (name.match(/\p{Nd}+/gu) ?? []).join(' ')
}

function wordsOf(name: string): string[] {
  return name.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== '')
}

/** Those of each word with two spaces before it and one behind it, as PostgreSQL's pg_trgm takes them. */
function trigrams(name: string): string[] {
  return wordsOf(name).flatMap((word) => {
    const padded = `  ${word} `
    return Array.from({ length: padded.length - 2 }, (_, start) => padded.slice(start, start + 3))
  })
}
