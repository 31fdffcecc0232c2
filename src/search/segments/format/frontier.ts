import type { ByteReader, ByteWriter } from '../../bytes/byte-writer.ts'

/** Pairs that are kept: more would bound the score of a block a little better, and take more room. */
const maxPairs = 4

/**
 * The impacts of some postings: pairs of a frequency and a length of which no other pair has a frequency as high in a text as
 * short. Whatever the average length of the texts that a reader may see, no posting scores higher than the best of the pairs.
 * As Lucene's impacts are, after Ding and Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", 2011.
 */
export class Frontier {
  /** By ascending frequency, and so by ascending length. */
  readonly #frequencies: number[] = []
  readonly #lengths: number[] = []

  add(frequency: number, length: number): void {
    const [frequencies, lengths] = [this.#frequencies, this.#lengths]
    let at = frequencies.length
    while (at > 0 && (frequencies[at - 1] ?? 0) >= frequency) at--
    // What stands from here on has at least this frequency, the first of them the shortest text.
    if (at < frequencies.length && (lengths[at] ?? 0) <= length) return
    let start = at
    while (start > 0 && (lengths[start - 1] ?? 0) >= length) start--
    let end = at
    while (end < frequencies.length && frequencies[end] === frequency && (lengths[end] ?? 0) >= length) end++
    frequencies.splice(start, end - start, frequency)
    lengths.splice(start, end - start, length)
    if (frequencies.length <= maxPairs) return
    // The two with the lowest frequencies become one that is no worse than either.
    frequencies.shift()
    lengths.splice(1, 1)
  }

  write(out: ByteWriter): void {
    out.varint(this.#frequencies.length)
    for (const [index, frequency] of this.#frequencies.entries()) {
      out.varint(frequency)
      out.varint(this.#lengths[index] ?? 0)
    }
  }
}

/** The most that `score` gives for any pair of what {@link Frontier.write} wrote. */
export function highestScore(reader: ByteReader, score: (frequency: number, length: number) => number): number {
  let highest = 0
  for (let left = reader.varint(); left > 0; left--) {
    const frequency = reader.varint()
    highest = Math.max(highest, score(frequency, reader.varint()))
  }
  return highest
}
