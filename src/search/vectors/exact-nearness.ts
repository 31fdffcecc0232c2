import type { ScoredChunk } from '../index/term-engine.ts'
import type { Nearness, VectorPlaces } from '../rank/nearness.ts'
import { best } from '../rank/scorer.ts'

/** Cosines are kept as whole parts of this, so that sums of them are exact: the same in whatever order they are added. */
const unit = 2 ** 14
const hidden = -(2 ** 31)

/** From the cosines of all visible chunks. */
export class ExactNearness implements Nearness {
  readonly #parts: Int32Array
  readonly #places: VectorPlaces
  readonly #mean: number
  readonly #deviation: number
  readonly count: number

  /** @param cosines calls back with the cosine of each visible row. */
  constructor(cosines: (each: (row: number, cosine: number) => void) => void, places: VectorPlaces) {
    const parts = new Int32Array(places.chunks.length).fill(hidden)
    let [count, sum, squares] = [0, 0, 0]
    cosines((row, cosine) => {
      const part = Math.round(cosine * unit)
      parts[row] = part
      count++
      sum += part
      squares += part * part
    })
    this.#parts = parts
    this.#places = places
    this.count = count
    this.#mean = sum / Math.max(1, count)
    this.#deviation = Math.sqrt(Math.max(0, squares / Math.max(1, count) - this.#mean ** 2))
  }

  of(chunk: number): number | undefined {
    const row = this.#places.rowOf[chunk]
    const part = row === undefined ? undefined : this.#parts[row]
    return part === undefined || part === hidden ? undefined : this.#standard(part)
  }

  nearest(limit: number): ScoredChunk[] {
    const { chunks, catalog } = this.#places
    const least = this.#leastOf(limit)
    const scored: ScoredChunk[] = []
    for (const [row, part] of this.#parts.entries()) {
      if (part < least || part === hidden) continue
      const chunk = chunks[row] ?? 0
      scored.push({ chunk, page: catalog.pageOf(chunk), score: this.#standard(part) })
    }
    return best(scored, limit, catalog)
  }

  #standard(part: number): number {
    return this.#deviation === 0 ? 0 : (part - this.#mean) / this.#deviation
  }

  /** What the least of the nearest `limit` rows has, by counting. */
  #leastOf(limit: number): number {
    // A cosine of bytes can be a little beyond 1.
    const counts = new Uint32Array(4 * unit)
    for (const part of this.#parts) if (part !== hidden) counts[part + 2 * unit] = (counts[part + 2 * unit] ?? 0) + 1
    let found = 0
    for (let bin = counts.length - 1; bin >= 0; bin--) {
      found += counts[bin] ?? 0
      if (found >= limit) return bin - 2 * unit
    }
    return hidden
  }
}
