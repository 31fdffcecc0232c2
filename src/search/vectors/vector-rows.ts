import { type DotKernel, lanes, newDotKernel } from './dot-kernel.ts'
import type { Quantised } from './quantise.ts'

/** Rows that are multiplied at a time. */
const blockSize = 4096
const pageSize = 65_536

/** Quantised vectors of one length in memory, one after the other, counted from 0. */
export class VectorRows {
  readonly dimensions: number
  readonly #kernel: DotKernel = newDotKernel()
  readonly #width: number
  /** Where the rows begin: behind the query and the products of a block. */
  readonly #start: number
  readonly #scales: number[] = []

  constructor(dimensions: number) {
    this.dimensions = dimensions
    this.#width = Math.ceil(dimensions / lanes) * lanes
    this.#start = this.#width + 4 * blockSize
    this.#reserve(0)
  }

  get count(): number {
    return this.#scales.length
  }

  /** Bytes of memory for so many rows of so many dimensions. */
  static bytesFor(count: number, dimensions: number): number {
    return count * (Math.ceil(dimensions / lanes) * lanes + 8)
  }

  push({ scale, bytes }: Quantised): void {
    this.#reserve(this.count + 1)
    new Int8Array(this.#kernel.memory.buffer).set(bytes, this.#addressOf(this.count))
    this.#scales.push(scale)
  }

  /** Keeps the rows that are named, in ascending order, and counts them anew. */
  keep(rows: readonly number[]): void {
    const memory = new Uint8Array(this.#kernel.memory.buffer)
    for (const [index, row] of rows.entries()) {
      const from = this.#addressOf(row)
      memory.copyWithin(this.#addressOf(index), from, from + this.#width)
      this.#scales[index] = this.#scales[row] ?? 0
    }
    this.#scales.length = rows.length
  }

  /** Calls back with the cosine of each of `count` rows and the query. @param query as long as the rows */
  cosines(query: Quantised, from: number, count: number, each: (row: number, cosine: number) => void): void {
    const { memory, dots } = this.#kernel
    new Int8Array(memory.buffer).set(query.bytes, 0)
    for (let row = from; row < from + count; row += blockSize) {
      const end = Math.min(from + count, row + blockSize)
      dots(0, this.#addressOf(row), this.#addressOf(end), this.#width, this.#width)
      const products = new Int32Array(memory.buffer, this.#width, end - row)
      for (let index = 0; index < products.length; index++) {
        each(row + index, (products[index] ?? 0) * query.scale * (this.#scales[row + index] ?? 0))
      }
    }
  }

  #addressOf(row: number): number {
    return this.#start + row * this.#width
  }

  /** Bytes that were never written, or are behind a row that is shorter than its place, are zeros. */
  #reserve(count: number): void {
    const { memory } = this.#kernel
    const lacking = this.#addressOf(count) - memory.buffer.byteLength
    if (lacking <= 0) return
    const quarter = memory.buffer.byteLength / 4
    memory.grow(Math.ceil(Math.max(lacking, quarter) / pageSize))
  }
}
