import { distance } from 'fastest-levenshtein'
import { parseSeqId } from '../neurons/seq-id.ts'

/** Maximum names with most shared trigrams that are compared in full. */
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

/** Maximum number of items with a feature that is used. A more common one distinguishes nothing, and takes long to scan. */
const maxBearers = 1_000

/** Index of items by their features. Finds items that share distinctive features, in time linear in their number. */
export class FeatureIndex {
  readonly #ids: string[] = []
  readonly #bearers = new Map<string, number[]>()

  add(id: string, features: Iterable<string>): void {
    const index = this.#ids.push(id) - 1
    for (const feature of new Set(features)) {
      const bearers = this.#bearers.get(feature)
      if (bearers === undefined) this.#bearers.set(feature, [index])
      else if (bearers.length <= maxBearers) bearers.push(index)
    }
  }

  /** Returns the items that share features, best first. A feature that n of N items have weighs ln(1 + N/n). */
  sharing(features: Iterable<string>, limit: number): string[] {
    const weights = new Map<number, number>()
    for (const feature of new Set(features)) {
      const bearers = this.#bearers.get(feature) ?? []
      if (bearers.length > maxBearers) continue
      const weight = Math.log(1 + this.#ids.length / bearers.length)
      for (const index of bearers) weights.set(index, (weights.get(index) ?? 0) + weight)
    }
    return [...weights]
      .sort(([a, heavy], [b, heavier]) => heavier - heavy || a - b)
      .slice(0, limit)
      .flatMap(([index]) => this.#ids[index] ?? [])
  }
}
