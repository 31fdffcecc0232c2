import { lanes, newRowKernel, type RowKernel } from './row-kernel.ts'

/** Rows that are compared at a time. */
const blockSize = 4096
const pageSize = 65_536

/** Rows of bytes of one length, one after the other, counted from 0. */
export class RowMemory {
  readonly #kernel: RowKernel = newRowKernel()
  readonly #length: number
  readonly #width: number
  /** Where the rows begin: behind the query and the results of a block. */
  readonly #start: number
  #count = 0

  /** @param length of a row, in bytes */
  constructor(length: number) {
    this.#length = length
    this.#width = widthOf(length)
    this.#start = this.#width + 4 * blockSize
    this.#reserve(0)
  }

  get count(): number {
    return this.#count
  }

  static bytesFor(count: number, length: number): number {
    return count * widthOf(length)
  }

  push(row: Uint8Array | Int8Array): void {
    this.#reserve(this.#count + 1)
    new Uint8Array(this.#kernel.memory.buffer).set(row, this.#addressOf(this.#count))
    this.#count++
  }

  /** Keeps the rows that are named, in ascending order, and counts them anew. */
  keep(rows: readonly number[]): void {
    const memory = new Uint8Array(this.#kernel.memory.buffer)
    for (const [index, row] of rows.entries()) {
      const from = this.#addressOf(row)
      memory.copyWithin(this.#addressOf(index), from, from + this.#width)
    }
    this.#count = rows.length
  }

  /** A view, which holds until the next change. */
  at(row: number): Uint8Array {
    return new Uint8Array(this.#kernel.memory.buffer, this.#addressOf(row), this.#length)
  }

  /** Calls back with what a comparison gives for each of `count` rows. @param query as long as the rows */
  compare(
    by: 'dots' | 'distances',
    query: Uint8Array | Int8Array,
    { from, count }: { from: number; count: number },
    each: (row: number, value: number) => void,
  ): void {
    const { memory } = this.#kernel
    new Uint8Array(memory.buffer).set(query, 0)
    for (let row = from; row < from + count; row += blockSize) {
      const end = Math.min(from + count, row + blockSize)
      this.#kernel[by](0, this.#addressOf(row), this.#addressOf(end), this.#width, this.#width)
      const values = new Int32Array(memory.buffer, this.#width, end - row)
      for (let index = 0; index < values.length; index++) each(row + index, values[index] ?? 0)
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

function widthOf(length: number): number {
  return Math.ceil(length / lanes) * lanes
}
