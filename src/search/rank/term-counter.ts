import { TermScan } from '../text/term-hash.ts'
import { TermTable } from '../text/term-table.ts'

/** Counts how often each of some terms stands in texts of terms with spaces between. */
export class TermCounter {
  readonly #table: TermTable
  readonly #counts: Uint32Array
  readonly #scan = new TermScan()
  #found: number[] = []

  constructor(terms: readonly string[]) {
    this.#table = new TermTable(terms)
    this.#counts = new Uint32Array(terms.length)
  }

  /** Counts in the part of a text from one place to before another: each begins or ends a term. */
  add(text: string, from: number, to: number): void {
    this.#scan.scan(text, from, to)
    for (let at = 0; at < this.#scan.count; at++) {
      const index = this.#table.findAt(text, this.#scan, at)
      if (index < 0) continue
      const count = this.#counts[index] ?? 0
      if (count === 0) this.#found.push(index)
      this.#counts[index] = count + 1
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
}
