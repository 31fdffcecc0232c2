import type { Catalog } from '../../index/catalog.ts'
import type { ScoredChunk } from '../../index/term-engine.ts'
import { best, byPlace } from '../../rank/scorer.ts'

/** Extra chunks kept before the worst are dropped. */
const spare = 1000

/** Selects the best of many chunks, as {@link best} does. */
export class TopChunks {
  readonly #limit: number
  readonly #catalog: Catalog
  /** The best scores, a heap with the lowest first. */
  readonly #scores: Float64Array
  #count = 0
  #kept: ScoredChunk[] = []
  /** The last chunk kept, once there are enough. */
  #worst: ScoredChunk | undefined

  constructor(limit: number, catalog: Catalog) {
    this.#limit = limit
    this.#catalog = catalog
    this.#scores = new Float64Array(limit)
  }

  /** Minimum score to be among the best. */
  get threshold(): number {
    return this.#count < this.#limit ? 0 : (this.#scores[0] ?? 0)
  }

  offer(scored: ScoredChunk): void {
    if (this.#limit === 0 || scored.score < this.threshold) return
    const worst = this.#worst
    if (worst !== undefined && scored.score === worst.score && byPlace(worst, scored, this.#catalog) < 0) return
    this.#note(scored.score)
    this.#kept.push(scored)
    if (this.#kept.length < 2 * this.#limit + spare) return
    this.#kept = this.best()
    this.#worst = this.#kept.at(-1)
  }

  best(): ScoredChunk[] {
    return best(this.#kept, this.#limit, this.#catalog)
  }

  #note(score: number): void {
    const scores = this.#scores
    if (this.#count < this.#limit) {
      let at = this.#count++
      for (; at > 0 && (scores[(at - 1) >> 1] ?? 0) > score; at = (at - 1) >> 1) scores[at] = scores[(at - 1) >> 1] ?? 0
      scores[at] = score
      return
    }
    let at = 0
    for (let child = 1; child < this.#limit; child = 2 * at + 1) {
      if (child + 1 < this.#limit && (scores[child + 1] ?? 0) < (scores[child] ?? 0)) child++
      if ((scores[child] ?? 0) >= score) break
      scores[at] = scores[child] ?? 0
      at = child
    }
    scores[at] = score
  }
}
