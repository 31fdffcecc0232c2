import { maxPlainRun } from './plain-runs.ts'
import { hashOfUnits, hashSlot } from './term-hash.ts'
import type { Token } from './tokens.ts'

/** Runs that are kept at most, which take some 10 MB; a power of two. */
const size = 2 ** 16
/** Units of a record: the length of a run, and the run. Records are beside each other, since most are not in the processor's cache. */
const recordSize = 1 + maxPlainRun

/**
 * The tokens of plain runs, with offsets in the run: most words of a text come again and again. Each run has two places; a new one
 * pushes what is in its first place to the second, so that two frequent words do not push each other out.
 */
export class KnownRuns {
  readonly #records = new Uint16Array(size * recordSize)
  readonly #tokens = new Array<readonly Token[]>(size).fill([])

  /** The tokens of the part of a text from one place to before another, which is a plain run. */
  find(text: Uint16Array, start: number, end: number): readonly Token[] | undefined {
    const place = hashSlot(hashOfUnits(text, start, end), size)
    if (this.#isAt(place, text, start, end)) return this.#tokens[place]
    return this.#isAt(place ^ 1, text, start, end) ? this.#tokens[place ^ 1] : undefined
  }

  /** Keeps the tokens of a plain run that is not there. */
  add(text: Uint16Array, start: number, end: number, tokens: readonly Token[]): void {
    const place = hashSlot(hashOfUnits(text, start, end), size)
    const record = place * recordSize
    this.#records.copyWithin((place ^ 1) * recordSize, record, record + recordSize)
    this.#tokens[place ^ 1] = this.#tokens[place] ?? []
    this.#records[record] = end - start
    this.#records.set(text.subarray(start, end), record + 1)
    this.#tokens[place] = tokens
  }

  #isAt(place: number, text: Uint16Array, start: number, end: number): boolean {
    const records = this.#records
    const record = place * recordSize
    if (records[record] !== end - start) return false
    const from = record + 1 - start
    for (let at = start; at < end; at++) if (records[from + at] !== text[at]) return false
    return true
  }
}
