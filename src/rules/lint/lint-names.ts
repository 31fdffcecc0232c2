import { distance } from 'fastest-levenshtein'
import { parseSeqId } from '../neurons/seq-id.ts'
import { FeatureIndex } from './lint-features.ts'

/** Number of names with most shared trigrams that are compared in full. */
const looked = 20
const maxLikely = 3
const minSpelledLength = 5
const maxEdits = 3

/** Index of the names of a KB's Neurons by key. Finds the Neurons that a misspelled target may mean. */
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

  /** Returns at most three Neurons that a key likely means, the likeliest first. */
  likely(key: string): string[] {
    // Any two seqIds that differ in one digit are equally similar, so similarity says nothing.
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
 * Returns a similarity from 0 to 1. It is 0 unless the names differ by at most 3 characters and 3 in 10, or share two thirds of the words
 * of both and at least two words. A different number is never a misspelling.
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

/** Returns the trigrams of a name. Each word is padded with two spaces before and one after it, as in PostgreSQL's pg_trgm. */
function trigrams(name: string): string[] {
  return wordsOf(name).flatMap((word) => {
    const padded = `  ${word} `
    return Array.from({ length: padded.length - 2 }, (_, start) => padded.slice(start, start + 3))
  })
}
