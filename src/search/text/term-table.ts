import { randomInt } from 'node:crypto'
import { grown } from '../bytes/byte-writer.ts'

const space = 32
/** Random in each process, so that nobody can write a text whose terms collide. */
const firstHash = randomInt(2 ** 32) | 0
const multiplier = randomInt(2 ** 31) * 2 + 1

/** Adds a UTF-16 unit to a hash that starts with {@link firstHash}. */
function nextHash(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, multiplier)
}

export function termHash(text: string): number {
  let hash = firstHash
  for (let at = 0; at < text.length; at++) hash = nextHash(hash, text.charCodeAt(at))
  return hash
}

/** Returns the {@link termHash} of a range of a text given as UTF-16 units. */
export function hashOfUnits(text: Uint16Array, start: number, end: number): number {
  let hash = firstHash
  for (let at = start; at < end; at++) hash = nextHash(hash, text[at] ?? 0)
  return hash
}

/**
 * Returns the slot of a hash in a table. The lowest bits of a product depend only on the lowest bits of its factors, so higher
 * bits are mixed in.
 * @param size a power of two
 */
export function hashSlot(hash: number, size: number): number {
  return (hash ^ (hash >>> 15)) & (size - 1)
}

/** Table of different terms, numbered from 0. Looks terms up in place, by their hashes, so that a text need not be split. */
export class TermTable {
  readonly terms: string[] = []
  readonly #hashes: number[] = []
  /** Hash table with open addressing, at most half full: index of a term plus 1, or 0. */
  #slots = new Uint32Array(64)
  #found = new Int32Array(256)

  constructor(terms: Iterable<string> = []) {
    for (const term of terms) this.add(term, 0, term.length, termHash(term))
  }

  /** Adds the space-separated terms of a text. @returns their indexes, in order, valid until the next call */
  addTerms(text: string, from = 0, to = text.length): Int32Array {
    return this.#scan(text, from, to, true)
  }

  /** Finds the space-separated terms of a text, as {@link addTerms}, but with -1 for a term that is not in the table. */
  findTerms(text: string, from = 0, to = text.length): Int32Array {
    return this.#scan(text, from, to, false)
  }

  /** Returns the index of a term; -1 if it is not in the table. */
  find(text: string, start: number, end: number, hash: number): number {
    return (this.#slots[this.#slotOf(text, start, end, hash)] ?? 0) - 1
  }

  /** Returns the index of a term, which is added if needed. */
  add(text: string, start: number, end: number, hash: number): number {
    const slot = this.#slotOf(text, start, end, hash)
    const known = (this.#slots[slot] ?? 0) - 1
    if (known >= 0) return known
    // A slice of this length would keep the whole text in memory.
    const term = text.slice(start, end)
    this.terms.push(term.length < 13 ? term : Buffer.from(term, 'utf16le').toString('utf16le'))
    this.#hashes.push(hash)
    this.#slots[slot] = this.terms.length
    if (2 * this.terms.length > this.#slots.length) this.#grow()
    return this.terms.length - 1
  }

  #scan(text: string, from: number, to: number, isAdded: boolean): Int32Array {
    let [count, start, hash] = [0, from, firstHash]
    for (let at = from; at <= to; at++) {
      const unit = at === to ? space : text.charCodeAt(at)
      if (unit !== space) {
        hash = nextHash(hash, unit)
        continue
      }
      if (at > start) {
        if (count === this.#found.length) this.#found = grown(this.#found, count + 1)
        this.#found[count++] = isAdded ? this.add(text, start, at, hash) : this.find(text, start, at, hash)
      }
      start = at + 1
      hash = firstHash
    }
    return this.#found.subarray(0, count)
  }

  /** Returns the slot of a term, or the one where it would be added. */
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
