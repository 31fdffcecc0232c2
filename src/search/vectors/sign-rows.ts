import { grown } from '../bytes/byte-writer.ts'

/** A vector of length 1 as signed bytes: a component is `scale` times its byte, -127 to 127. */
export type Quantised = { scale: number; bytes: Int8Array }

const largest = 127
/** Bytes of the scale in a blob. */
const scaleLength = 4

/** Quantises the direction of a vector to a byte per component. @param vector finite, and not all zeros */
export function quantise(vector: Float32Array): Quantised {
  // Sums in 64 bits: squares of 32-bit floats can overflow 32 bits.
  let [squares, peak] = [0, 0]
  for (const component of vector) {
    squares += component * component
    peak = Math.max(peak, Math.abs(component))
  }
  const bytes = Int8Array.from(vector, (component) => Math.round((component / peak) * largest))
  return { scale: Math.fround(peak / Math.sqrt(squares) / largest), bytes }
}

/** Returns the cosine of two vectors of equal length. */
export function cosine(a: Quantised, b: Quantised): number {
  let product = 0
  for (let at = 0; at < a.bytes.length; at++) product += (a.bytes[at] ?? 0) * (b.bytes[at] ?? 0)
  return product * a.scale * b.scale
}

/** Serialises a vector: the scale as a 32-bit float, little-endian, then the bytes. */
export function toBlob({ scale, bytes }: Quantised): Uint8Array {
  const blob = new Uint8Array(scaleLength + bytes.length)
  new DataView(blob.buffer).setFloat32(0, scale, true)
  blob.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length), scaleLength)
  return blob
}

export function fromBlob(blob: Uint8Array): Quantised {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const bytes = new Int8Array(blob.buffer, blob.byteOffset + scaleLength, blob.byteLength - scaleLength)
  return { scale: view.getFloat32(0, true), bytes }
}

/** Minimum bits: fewer are too coarse a measure. */
const minBits = 512
/** Maximum bytes of whole vectors in memory: reading 2,000 of them from a file takes some 12 ms. */
const maxWhole = 100 * 2 ** 20

/**
 * The signs of vectors after one random rotation, a bit per component, in memory: the angle between two vectors is near the share
 * of bits that differ (Charikar, "Similarity Estimation Techniques from Rounding Algorithms", 2002). The rotation, by random
 * signs and a Walsh-Hadamard transform, gives all bits the same weight (Ailon and Chazelle, 2006). Rows are numbered from 0; the
 * first ones also have their whole vectors in memory.
 */
export class SignRows {
  readonly dimensions: number
  /** Bits of a row; also the maximum distance, of two opposite vectors. */
  readonly farthest: number
  /** Number of 32-bit words per row: its signs, then its hash. */
  readonly #width: number
  #words = new Int32Array(0)
  count = 0
  readonly #mostWhole: number
  #blobs = new Uint8Array(0)
  #whole = 0

  constructor(dimensions: number, mostWhole = maxWhole) {
    this.dimensions = dimensions
    this.#mostWhole = mostWhole
    this.farthest = bitsFor(dimensions)
    this.#width = this.farthest / 32 + 1
  }

  /** Bytes in memory. */
  get size(): number {
    return 4 * this.count * this.#width + this.#whole * this.#blobWidth
  }

  push(vector: Quantised): void {
    const end = (this.count + 1) * this.#width
    if (end > this.#words.length) this.#words = grown(this.#words, end)
    const signs = this.#signsOf(vector)
    this.#words.set(signs, end - this.#width)
    this.#words[end - 1] = lotOf(signs)
    const endOfWhole = (this.#whole + 1) * this.#blobWidth
    if (this.#whole === this.count && endOfWhole <= this.#mostWhole) {
      if (endOfWhole > this.#blobs.length) this.#blobs = grown(this.#blobs, endOfWhole)
      this.#blobs.set(toBlob(vector), endOfWhole - this.#blobWidth)
      this.#whole++
    }
    this.count++
  }

  /** Keeps only these rows, in ascending order, and renumbers them. */
  keep(rows: readonly number[]): void {
    const whole = rows.filter((row) => row < this.#whole)
    moveRows(this.#words, rows, this.#width)
    moveRows(this.#blobs, whole, this.#blobWidth)
    this.count = rows.length
    this.#whole = whole.length
  }

  /** Returns the whole vector of a row if it is in memory, as a view that is valid until the next change. */
  vectorOf(row: number): Quantised | undefined {
    if (row >= this.#whole) return undefined
    return fromBlob(this.#blobs.subarray(row * this.#blobWidth, (row + 1) * this.#blobWidth))
  }

  /** Returns a function that counts the bits in which a row differs from the query. */
  distancesTo(query: Quantised): (row: number) => number {
    const signs = this.#signsOf(query)
    const [words, width] = [this.#words, this.#width]
    return (row) => {
      const start = row * width
      let distance = 0
      for (let at = 0; at < signs.length; at++) distance += bitsOf((signs[at] ?? 0) ^ (words[start + at] ?? 0))
      return distance
    }
  }

  /** Returns a 32-bit hash of the row's vector, for sampling. */
  lotOf(row: number): number {
    return (this.#words[(row + 1) * this.#width - 1] ?? 0) >>> 0
  }

  get #blobWidth(): number {
    return scaleLength + this.dimensions
  }

  #signsOf({ bytes }: Quantised): Int32Array {
    const rotated = rotate(bytes, this.farthest)
    const signs = new Int32Array(this.farthest / 32)
    for (let at = 0; at < this.farthest; at++) {
      if ((rotated[at] ?? 0) > 0) signs[at >> 5] = (signs[at >> 5] ?? 0) | (1 << (at & 31))
    }
    return signs
  }
}

function moveRows(array: Int32Array | Uint8Array, rows: readonly number[], width: number): void {
  for (const [index, row] of rows.entries()) array.copyWithin(index * width, row * width, (row + 1) * width)
}

/** Counts the bits that are set. */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Hashes signs by FNV-1a, a word at a time. */
function lotOf(signs: Int32Array): number {
  let lot = 0x811c9dc5
  for (const word of signs) lot = Math.imul(lot ^ word, 0x01000193)
  return lot
}

/** Returns a power of two, which the transform needs, and at least {@link minBits}. */
function bitsFor(dimensions: number): number {
  return Math.max(minBits, 2 ** Math.ceil(Math.log2(dimensions)))
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

/** Returns a bit of a hash of the index, the same in every process. */
function isFlipped(at: number): boolean {
  const mixed = Math.imul(at + 1, 0x9e3779b1)
  return (Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) & 0x10000) !== 0
}
