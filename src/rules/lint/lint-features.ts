/** Number of items above which a feature is ignored: it distinguishes nothing, and scanning its items is slow. */
const maxBearers = 1_000

/** Index of items by their features. Finds items that share distinctive features, in time linear in their number. */
export class FeatureIndex {
  readonly #ids: string[] = []
  readonly #bearers = new Map<string, number[]>()

  add(id: string, features: Iterable<string>): void {
    const index = this.#ids.push(id) - 1
    for (const feature of new Set(features)) {
      const bearers = this.#bearers.get(feature)
      if (bearers === undefined) this.#bearers.set(feature, [index])
      else if (bearers.length <= maxBearers) bearers.push(index)
    }
  }

  /** Returns the items that share features, best first. A feature that n of N items have weighs ln(1 + N/n). */
  sharing(features: Iterable<string>, limit: number): string[] {
    const weights = new Map<number, number>()
    for (const feature of new Set(features)) {
      const bearers = this.#bearers.get(feature) ?? []
      if (bearers.length > maxBearers) continue
      const weight = Math.log(1 + this.#ids.length / bearers.length)
      for (const index of bearers) weights.set(index, (weights.get(index) ?? 0) + weight)
    }
    return [...weights]
      .sort(([a, heavy], [b, heavier]) => heavier - heavy || a - b)
      .slice(0, limit)
      .flatMap(([index]) => this.#ids[index] ?? [])
  }
}
