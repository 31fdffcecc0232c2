import type { Token } from './analyser.ts'
import { hashOf, placeOf } from './term-hash.ts'

/** Runs that are kept at most, which take some 10 MB; a power of two. */
const size = 2 ** 16

/** The tokens of runs of words, with offsets in the run: most words of a text come again and again. */
export class KnownRuns {
  /** By the hash of the run. A later run takes the place of another. */
  readonly #runs = new Array<string | undefined>(size).fill(undefined)
  readonly #tokens = new Array<readonly Token[] | undefined>(size).fill(undefined)

  /** The tokens of the part of a text from one place to before another. */
  find(text: string, start: number, end: number): readonly Token[] | undefined {
    const place = placeOf(hashOf(text, start, end), size)
    const known = this.#runs[place]
    return known?.length === end - start && text.startsWith(known, start) ? this.#tokens[place] : undefined
  }

  set(run: string, tokens: readonly Token[]): void {
    const place = placeOf(hashOf(run), size)
    this.#runs[place] = run
    this.#tokens[place] = tokens
  }
}
