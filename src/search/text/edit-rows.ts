/** Up to this one, characters are in the same order in UTF-16 and UTF-8. */
const lastOrdered = 0xd7ff

/**
 * The optimal string alignment distance (Damerau-Levenshtein, where no part of a word is edited twice) of one word to others
 * that are given one character at a time. Others with a common beginning share its rows, so a sorted list or a tree of terms
 * is searched in a fraction of the time that each term alone would take. Wagner and Fischer, "The String-to-String Correction
 * Problem", 1974; lengths and characters are UTF-16 units.
 */
export class EditRows {
  readonly #word: string
  readonly #maxEdits: number
  readonly #rows: Uint8Array[]
  readonly #units: number[] = []

  constructor(word: string, maxEdits: number) {
    this.#word = word
    this.#maxEdits = maxEdits
    this.#rows = [Uint8Array.from({ length: word.length + 1 }, (_, index) => Math.min(index, maxEdits + 1))]
  }

  /**
   * Takes the character at `depth`, in place of those that were taken at it and beyond.
   * @returns whether a word that begins so can be within the number of edits.
   */
  take(depth: number, unit: number): boolean {
    if (depth >= this.#word.length + this.#maxEdits) return false
    const above = this.#row(depth)
    const row = this.#row(depth + 1)
    this.#units[depth] = unit
    row[0] = this.#within(depth + 1)
    let least = row[0]
    for (let at = 1; at <= this.#word.length; at++) {
      const isSame = this.#word.charCodeAt(at - 1) === unit
      const replaced = (above[at - 1] ?? 0) + (isSame ? 0 : 1)
      const inserted = (row[at - 1] ?? 0) + 1
      const removed = (above[at] ?? 0) + 1
      const edits = Math.min(replaced, inserted, removed, this.#swapped(depth, at, unit))
      row[at] = this.#within(edits)
      least = Math.min(least, edits)
    }
    return least <= this.#maxEdits
  }

  /** Whether the first `length` characters that were taken, as a word, are within the number of edits. */
  isWithin(length: number): boolean {
    return (this.#row(length)[this.#word.length] ?? 0) <= this.#maxEdits
  }

  /**
   * Where the next of some sorted words can be within the number of edits: no word between this one and the text that is returned
   * is; empty where none behind it is. @param live how many of its characters were taken, and can begin such a word
   */
  after(word: string, live: number): string {
    if (live === word.length) return `${word}\0`
    for (let depth = live; depth >= 0; depth--) {
      const unit = word.charCodeAt(depth)
      const next = this.#unitAfter(depth, unit)
      // The order of words is not that of their units.
      if (unit > lastOrdered || (next > lastOrdered && next !== Number.POSITIVE_INFINITY)) return `${word}\0`
      if (next <= lastOrdered) return word.slice(0, depth) + String.fromCharCode(next)
    }
    return ''
  }

  /** The least character above another one that can follow the first `depth` of those that were taken; infinite where none can. */
  #unitAfter(depth: number, unit: number): number {
    if (depth >= this.#word.length + this.#maxEdits) return Number.POSITIVE_INFINITY
    const row = this.#row(depth)
    if (row.some((edits) => edits < this.#maxEdits)) return unit + 1
    let least = Number.POSITIVE_INFINITY
    for (let at = 0; at < this.#word.length; at++) {
      const next = this.#word.charCodeAt(at)
      if (next <= unit || next >= least) continue
      if ((row[at] ?? 0) <= this.#maxEdits || this.#swapped(depth, at + 2, next) <= this.#maxEdits) least = next
    }
    return least
  }

  /** Edits where this character and the one before it have changed places. */
  #swapped(depth: number, at: number, unit: number): number {
    const isSwapped =
      depth > 0 &&
      at > 1 &&
      this.#word.charCodeAt(at - 2) === unit &&
      this.#word.charCodeAt(at - 1) === this.#units[depth - 1]
    return isSwapped ? (this.#row(depth - 1)[at - 2] ?? 0) + 1 : this.#maxEdits + 1
  }

  /** More than the most is as much as one more: a row holds bytes. */
  #within(edits: number): number {
    return Math.min(edits, this.#maxEdits + 1)
  }

  #row(depth: number): Uint8Array {
    let row = this.#rows[depth]
    if (row === undefined) {
      row = new Uint8Array(this.#word.length + 1)
      this.#rows[depth] = row
    }
    return row
  }
}

/** Whether one word becomes the other with so many edits; see {@link EditRows}. */
export function isWithinEdits(one: string, other: string, maxEdits: number): boolean {
  const rows = new EditRows(one, maxEdits)
  for (let at = 0; at < other.length; at++) if (!rows.take(at, other.charCodeAt(at))) return false
  return rows.isWithin(other.length)
}
