import type { Quantised } from './quantise.ts'
import { RowMemory } from './row-memory.ts'

/**
 * The signs of vectors after one random rotation, a bit for each, in memory: the angle between two vectors is near the share of bits
 * that differ (Charikar, "Similarity Estimation Techniques from Rounding Algorithms", 2002). The rotation, by random signs and a
 * Walsh-Hadamard transform, gives all bits the same weight (Ailon and Chazelle, 2006). Counted from 0.
 */
export class SignRows {
  readonly dimensions: number
  readonly #bits: number
  readonly #rows: RowMemory
  readonly #lots: number[] = []

  constructor(dimensions: number) {
    this.dimensions = dimensions
    this.#bits = bitsFor(dimensions)
    this.#rows = new RowMemory(this.#bits / 8)
  }

  get count(): number {
    return this.#rows.count
  }

  /** Of the distances: two vectors with opposite directions are so far from each other. */
  get farthest(): number {
    return this.#bits
  }

  static bytesFor(count: number, dimensions: number): number {
    return RowMemory.bytesFor(count, bitsFor(dimensions) / 8) + count * 4
  }

  push(vector: Quantised): void {
    const signs = this.#signsOf(vector)
    this.#rows.push(signs)
    this.#lots.push(lotOf(signs))
  }

  /** Keeps the rows that are named, in ascending order, and counts them anew. */
  keep(rows: readonly number[]): void {
    this.#rows.keep(rows)
    for (const [index, row] of rows.entries()) this.#lots[index] = this.#lots[row] ?? 0
    this.#lots.length = rows.length
  }

  /** Calls back with the bits by which each of `count` rows differs from the query. */
  distances(query: Quantised, from: number, count: number, each: (row: number, distance: number) => void): void {
    this.#rows.compare('distances', this.#signsOf(query), { from, count }, each)
  }

  /** A number of 32 bits that only the row's vector decides, for taking samples. */
  lotOf(row: number): number {
    return this.#lots[row] ?? 0
  }

  #signsOf({ bytes }: Quantised): Uint8Array {
    const rotated = rotate(bytes, this.#bits)
    const signs = new Uint8Array(this.#bits / 8)
    for (let at = 0; at < this.#bits; at++) {
      if ((rotated[at] ?? 0) > 0) signs[at >> 3] = (signs[at >> 3] ?? 0) | (1 << (at & 7))
    }
    return signs
  }
}

/** FNV-1a. */
function lotOf(signs: Uint8Array): number {
  let lot = 0x811c9dc5
  for (const byte of signs) lot = Math.imul(lot ^ byte, 0x01000193)
  return lot >>> 0
}

/** A power of two, as the transform wants it, and a whole number of lanes. */
function bitsFor(dimensions: number): number {
  return Math.max(128, 2 ** Math.ceil(Math.log2(dimensions)))
}

function rotate(bytes: Int8Array, size: number): Float32Array {
  const values = new Float32Array(size)
  for (const [at, byte] of bytes.entries()) values[at] = isFlipped(at) ? -byte : byte
  for (let half = 1; half < size; half *= 2) {
    for (let start = 0; start < size; start += 2 * half) {
      for (let at = start; at < start + half; at++) {
        const [a, b] = [values[at] ?? 0, values[at + half] ?? 0]
        values[at] = a + b
        values[at + half] = a - b
      }
    }
  }
  return values
}

/** The same for every process: a bit of a hash of the place. */
function isFlipped(at: number): boolean {
  const mixed = Math.imul(at + 1, 0x9e3779b1)
  return (Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) & 0x10000) !== 0
}
