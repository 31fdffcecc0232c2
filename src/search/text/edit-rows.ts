/** Last character up to which UTF-16 and UTF-8 have the same order. */
const lastOrdered = 0xd7ff

/**
 * Rows of the optimal string alignment distance (Damerau-Levenshtein without editing a substring twice) between one word and
 * others given character by character. Others with a common beginning share rows, so a sorted list or a tree of terms is searched
 * in a fraction of the time that each term alone would take. Wagner and Fischer, "The String-to-String Correction Problem", 1974.
 * Lengths and characters are UTF-16 units.
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
   * Adds the character at `depth`, replacing those added there and after.
   * @returns true if a word with this beginning can be within the number of edits
   */
  take(depth: number, unit: number): boolean {
    if (depth >= this.#word.length + this.#maxEdits) return false
    const above = this.#row(depth)
    const row = this.#row(depth + 1)
    this.#units[depth] = unit
    // Words whose lengths differ by more take more edits, so the other cells of a row keep the highest value.
    const from = Math.max(1, depth + 1 - this.#maxEdits)
    const to = Math.min(this.#word.length, depth + 1 + this.#maxEdits)
    row[from - 1] = from === 1 ? this.#within(depth + 1) : this.#maxEdits + 1
    let least = row[from - 1] ?? 0
    for (let at = from; at <= to; at++) {
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

  /** True if the first `length` characters form a word within the number of edits. */
  isWithin(length: number): boolean {
    return (this.#row(length)[this.#word.length] ?? 0) <= this.#maxEdits
  }

  /**
   * Returns a text to seek to: no sorted word between `word` and it can be within the number of edits. Empty if no later word
   * can.
   * @param live number of characters that were added and can begin such a word
   */
  after(word: string, live: number): string {
    if (live === word.length) return `${word}\0`
    for (let depth = live; depth >= 0; depth--) {
      const unit = word.charCodeAt(depth)
      const next = this.#unitAfter(depth, unit)
      // UTF-8 orders words with these units differently.
      if (unit > lastOrdered || (next > lastOrdered && next !== Number.POSITIVE_INFINITY)) return `${word}\0`
      if (next <= lastOrdered) return word.slice(0, depth) + String.fromCharCode(next)
    }
    return ''
  }

  /** Returns the lowest character above `unit` that can follow the first `depth` characters; infinite if none can. */
  #unitAfter(depth: number, unit: number): number {
    if (depth >= this.#word.length + this.#maxEdits) return Number.POSITIVE_INFINITY
    const row = this.#row(depth)
    for (let at = 0; at < row.length; at++) if ((row[at] ?? 0) < this.#maxEdits) return unit + 1
    let least = Number.POSITIVE_INFINITY
    for (let at = 0; at < this.#word.length; at++) {
      const next = this.#word.charCodeAt(at)
      if (next <= unit || next >= least) continue
      if ((row[at] ?? 0) <= this.#maxEdits || this.#swapped(depth, at + 2, next) <= this.#maxEdits) least = next
    }
    return least
  }

  /** Returns the edits if this character and the one before it are transposed. */
  #swapped(depth: number, at: number, unit: number): number {
    const isSwapped =
      depth > 0 &&
      at > 1 &&
      this.#word.charCodeAt(at - 2) === unit &&
      this.#word.charCodeAt(at - 1) === this.#units[depth - 1]
    return isSwapped ? (this.#row(depth - 1)[at - 2] ?? 0) + 1 : this.#maxEdits + 1
  }

  /** Caps at one more than the maximum: a row holds bytes. */
  #within(edits: number): number {
    return Math.min(edits, this.#maxEdits + 1)
  }

  #row(depth: number): Uint8Array {
    let row = this.#rows[depth]
    if (row === undefined) {
      row = new Uint8Array(this.#word.length + 1).fill(this.#maxEdits + 1)
      this.#rows[depth] = row
    }
    return row
  }
}

/** True if two words are within `maxEdits` edits; see {@link EditRows}. */
export function isWithinEdits(one: string, other: string, maxEdits: number): boolean {
  const rows = new EditRows(one, maxEdits)
  for (let at = 0; at < other.length; at++) if (!rows.take(at, other.charCodeAt(at))) return false
  return rows.isWithin(other.length)
}
