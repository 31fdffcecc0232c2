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

export function termHash(text: string, start = 0, end = text.length): number {
  let hash = firstHash
  for (let at = start; at < end; at++) hash = nextHash(hash, text.charCodeAt(at))
  return hash
}

/** {@link termHash} of a range of a text given as UTF-16 units. */
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

/** Scans the space-separated terms of a text: start, end and {@link termHash} of each. */
export class TermScan {
  count = 0
  starts = new Uint32Array(256)
  ends = new Uint32Array(256)
  hashes = new Int32Array(256)

  /** Scans a range of a text, replacing the previous scan. */
  scan(text: string, from: number, to: number): void {
    this.count = 0
    let start = from
    let hash = firstHash
    for (let at = from; at < to; at++) {
      const unit = text.charCodeAt(at)
      if (unit !== space) {
        hash = nextHash(hash, unit)
        continue
      }
      if (at > start) this.#add(start, at, hash)
      start = at + 1
      hash = firstHash
    }
    if (to > start) this.#add(start, to, hash)
  }

  #add(start: number, end: number, hash: number): void {
    if (this.count === this.starts.length) {
      this.starts = grown(this.starts, this.count + 1)
      this.ends = grown(this.ends, this.count + 1)
      this.hashes = grown(this.hashes, this.count + 1)
    }
    this.starts[this.count] = start
    this.ends[this.count] = end
    this.hashes[this.count++] = hash
  }
}

/** Table of different terms, numbered from 0. Looks a term up in place, by its {@link termHash}, so that the text need not be split. */
export class TermTable {
  readonly terms: string[] = []
  readonly #hashes: number[] = []
  /** Hash table with open addressing, at most half full: index of a term plus 1, or 0. */
  #slots = new Uint32Array(64)

  constructor(terms: Iterable<string> = []) {
    for (const term of terms) this.add(term, 0, term.length, termHash(term))
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
