const space = 32
/** More than any term has neighbours in the table: it is at most half full. */
const minSlots = 64

/** Counts how often each of some terms stands in texts of terms with spaces between, without taking the texts apart. */
export class TermCounter {
  readonly #terms: readonly string[]
  readonly #hashes: Int32Array
  /** A hash table with open addressing: one more than the index of a term, or 0. */
  readonly #slots: Uint32Array
  readonly #counts: Uint32Array
  #found: number[] = []

  constructor(terms: readonly string[]) {
    this.#terms = terms
    this.#hashes = Int32Array.from(terms, (term) => hashOf(term))
    let size = minSlots
    while (size < 2 * terms.length) size *= 2
    this.#slots = new Uint32Array(size)
    this.#counts = new Uint32Array(terms.length)
    for (const [index, hash] of this.#hashes.entries()) {
      let slot = hash & (size - 1)
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (size - 1)
      this.#slots[slot] = index + 1
    }
  }

  /** Counts in the part of a text from one place to before another: each begins or ends a term. */
  add(text: string, from: number, to: number): void {
    let start = from
    let hash = 0
    for (let at = from; at <= to; at++) {
      const unit = at < to ? text.charCodeAt(at) : space
      if (unit !== space) {
        hash = (Math.imul(hash, 31) + unit) | 0
        continue
      }
      if (at > start) this.#count(text, start, at, hash)
      start = at + 1
      hash = 0
    }
  }

  /** What was counted since the last time: terms by their index, in the order in which they came. */
  *take(): Generator<[index: number, count: number]> {
    for (const index of this.#found) {
      const count = this.#counts[index] ?? 0
      this.#counts[index] = 0
      yield [index, count]
    }
    this.#found = []
  }

  #count(text: string, start: number, end: number, hash: number): void {
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const index = (this.#slots[slot] ?? 0) - 1
      const term = this.#terms[index] ?? ''
      if (this.#hashes[index] !== hash || term.length !== end - start || !text.startsWith(term, start)) continue
      const count = this.#counts[index] ?? 0
      if (count === 0) this.#found.push(index)
      this.#counts[index] = count + 1
      return
    }
  }
}

function hashOf(term: string): number {
  let hash = 0
  for (let at = 0; at < term.length; at++) hash = (Math.imul(hash, 31) + term.charCodeAt(at)) | 0
  return hash
}
