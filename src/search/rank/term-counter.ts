import { eachTerm } from '../text/term-hash.ts'
import { TermTable } from '../text/term-table.ts'

/** Counts how often each of some terms stands in texts of terms with spaces between. */
export class TermCounter {
  readonly #table: TermTable
  readonly #counts: Uint32Array
  #found: number[] = []

  constructor(terms: readonly string[]) {
    this.#table = new TermTable(terms)
    this.#counts = new Uint32Array(terms.length)
  }

  /** Counts in the part of a text from one place to before another: each begins or ends a term. */
  add(text: string, from: number, to: number): void {
    eachTerm(text, from, to, (start, end, hash) => {
      const index = this.#table.find(text, start, end, hash)
      if (index < 0) return
      const count = this.#counts[index] ?? 0
      if (count === 0) this.#found.push(index)
      this.#counts[index] = count + 1
    })
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
