import { hashSlot, type TermScan, termHash } from './term-hash.ts'

/**
 * Different terms with an index each, from 0 on. A term is looked up where it stands in a text, by its `hashOf`, so that the text
 * is not taken apart.
 */
export class TermTable {
  readonly terms: string[] = []
  readonly #hashes: number[] = []
  /** A hash table with open addressing, at most half full: one more than the index of a term, or 0. */
  #slots = new Uint32Array(64)

  constructor(terms: Iterable<string> = []) {
    for (const term of terms) this.add(term, 0, term.length, termHash(term))
  }

  /** The index of the term; -1 where it is not known. */
  find(text: string, start: number, end: number, hash: number): number {
    return (this.#slots[this.#slotOf(text, start, end, hash)] ?? 0) - 1
  }

  /** The index of the term, which is known from now on. */
  add(text: string, start: number, end: number, hash: number): number {
    const slot = this.#slotOf(text, start, end, hash)
    const known = (this.#slots[slot] ?? 0) - 1
    if (known >= 0) return known
    this.terms.push(text.slice(start, end))
    this.#hashes.push(hash)
    this.#slots[slot] = this.terms.length
    if (2 * this.terms.length > this.#slots.length) this.#grow()
    return this.terms.length - 1
  }

  findAt(text: string, { starts, ends, hashes }: TermScan, at: number): number {
    return this.find(text, starts[at] ?? 0, ends[at] ?? 0, hashes[at] ?? 0)
  }

  /** See {@link add}. */
  addAt(text: string, { starts, ends, hashes }: TermScan, at: number): number {
    return this.add(text, starts[at] ?? 0, ends[at] ?? 0, hashes[at] ?? 0)
  }

  /** Where the term is, or would be. */
  #slotOf(text: string, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1
    let slot = hashSlot(hash, this.#slots.length)
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const index = (this.#slots[slot] ?? 0) - 1
      const term = this.terms[index] ?? ''
      if (this.#hashes[index] === hash && term.length === end - start && text.startsWith(term, start)) break
    }
    return slot
  }

  #grow(): void {
    const slots = new Uint32Array(2 * this.#slots.length)
    const mask = slots.length - 1
    for (const [index, hash] of this.#hashes.entries()) {
      let slot = hashSlot(hash, slots.length)
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = index + 1
    }
    this.#slots = slots
  }
}
