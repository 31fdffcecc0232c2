/** A feature that so many have tells nothing of any; and it would cost too much to look through them. */
const maxBearers = 1_000

/** Things with features, to find those that share the telling ones, in time linear in their number. */
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

  /** The things that share features, best first: each feature weighs ln(1 + N/n), where n of N have it. */
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
