import type { Quantised } from './quantise.ts'
import { RowMemory } from './row-memory.ts'

/** Quantised vectors of one length in memory, one after the other, counted from 0. */
export class VectorRows {
  readonly dimensions: number
  readonly #rows: RowMemory
  readonly #scales: number[] = []

  constructor(dimensions: number) {
    this.dimensions = dimensions
    this.#rows = new RowMemory(dimensions)
  }

  get count(): number {
    return this.#rows.count
  }

  static bytesFor(count: number, dimensions: number): number {
    return RowMemory.bytesFor(count, dimensions) + count * 8
  }

  push({ scale, bytes }: Quantised): void {
    this.#rows.push(bytes)
    this.#scales.push(scale)
  }

  /** Keeps the rows that are named, in ascending order, and counts them anew. */
  keep(rows: readonly number[]): void {
    this.#rows.keep(rows)
    for (const [index, row] of rows.entries()) this.#scales[index] = this.#scales[row] ?? 0
    this.#scales.length = rows.length
  }

  at(row: number): Quantised {
    return { scale: this.#scales[row] ?? 0, bytes: new Int8Array(this.#rows.at(row).slice().buffer) }
  }

  /** Calls back with the cosine of each of `count` rows and the query. @param query as long as the rows */
  cosines(query: Quantised, from: number, count: number, each: (row: number, cosine: number) => void): void {
    this.#rows.compare('dots', query.bytes, { from, count }, (row, product) => {
      each(row, product * query.scale * (this.#scales[row] ?? 0))
    })
  }
}
