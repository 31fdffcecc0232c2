import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Nearness } from '../src/search/rank/nearness.ts'
import { EstimatedNearness } from '../src/search/vectors/estimated-nearness.ts'
import { ExactNearness } from '../src/search/vectors/exact-nearness.ts'
import { cosine, quantise } from '../src/search/vectors/quantise.ts'
import { SignRows } from '../src/search/vectors/sign-rows.ts'
import { VectorRows } from '../src/search/vectors/vector-rows.ts'
import { VectorStore } from '../src/search/vectors/vector-store.ts'
import { workFolder } from './support/measure.ts'
import { seeded } from './support/seeded.ts'

const dimensions = 384
const topics = 2000
const questions = 50
const limit = 100

/**
 * The two stages of the search by meaning in many chunks, against the exact search: how much of the nearest 100 they find, and how
 * long they take. The vectors are generated: noise around 2,000 topics, with components that matter less and less, as those of models
 * do. `VECTORS` says how many.
 */
export async function benchVectors(): Promise<string[]> {
  const count = Number(process.env.VECTORS ?? 300_000)
  const random = seeded(7)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const spread = Float32Array.from({ length: dimensions }, (_, at) => 1 / Math.sqrt(1 + at / 16))
  const noisy = (center: Float32Array, noise: number) =>
    center.map((component, at) => component + noise * normal() * (spread[at] ?? 0))
  const centers = Array.from({ length: topics }, () => noisy(new Float32Array(dimensions), 1))
  const centerOf = (n: number) => centers[n % topics] ?? spread
  const exact = new VectorRows(dimensions)
  const signs = new SignRows(dimensions)
  const store = new VectorStore(join(workFolder(), 'vectors.db'), 'generated')
  const places: number[] = []
  for (let from = 0; from < count; from += 10_000) {
    const batch = Array.from({ length: Math.min(10_000, count - from) }, (_, n) => {
      const hash = createHash('sha256')
        .update(String(from + n))
        .digest()
      return { hash, vector: quantise(noisy(centerOf(from + n), 0.9)) }
    })
    store.add(batch)
    for (const { hash, vector } of batch) {
      places.push(store.find(hash)?.place ?? 0)
      exact.push(vector)
      signs.push(vector)
    }
  }
  const chunks = Array.from({ length: count }, (_, row) => row)
  // Each chunk is a page.
  const catalog = { pageOf: (chunk: number) => chunk, keyOf: String }
  const known = { chunks, rowOf: chunks, catalog }
  const asked = Array.from({ length: questions }, (_, n) => quantise(noisy(centerOf(n * 37), 0.9)))
  const times = { exact: [] as number[], stages: [] as number[] }
  const timed = (of: keyof typeof times, work: () => Nearness) => {
    const begin = performance.now()
    const found = work()
      .nearest(limit)
      .map(({ chunk, score }) => [chunk, score] as const)
    times[of].push(performance.now() - begin)
    return new Map(found)
  }
  let [hit, hitOfTen, error] = [0, 0, 0]
  for (const query of asked) {
    const best = timed('exact', () => new ExactNearness((each) => exact.cosines(query, 0, count, each), known))
    const read = (row: number) => {
      const vector = store.at(places[row] ?? 0)
      return vector && cosine(query, vector)
    }
    const found = timed(
      'stages',
      () => new EstimatedNearness((each) => signs.distances(query, 0, count, each), { signs, cosine: read }, known),
    )
    const [top] = best.values()
    const [topFound] = found.values()
    error += Math.abs((topFound ?? 0) / (top ?? 1) - 1)
    for (const [place, chunk] of [...best.keys()].entries()) {
      hit += found.has(chunk) ? 1 : 0
      if (place < 10) hitOfTen += found.has(chunk) ? 1 : 0
    }
  }
  store.close()
  const at = (values: number[], share: number) =>
    (values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)] ?? 0).toFixed(1)
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0)
  return [
    `| ${count} vectors of ${dimensions} dimensions | ms p50 | p95 | in memory, MB | of the nearest 10 found | of the nearest 100 |`,
    '|---|---|---|---|---|---|',
    `| exact | ${at(times.exact, 0.5)} | ${at(times.exact, 0.95)} | ${megabytes(VectorRows.bytesFor(count, dimensions))} | 1 | 1 |`,
    `| in two stages | ${at(times.stages, 0.5)} | ${at(times.stages, 0.95)} | ${megabytes(SignRows.bytesFor(count, dimensions))} | ${(hitOfTen / 10 / questions).toFixed(3)} | ${(hit / limit / questions).toFixed(3)} |`,
    '',
    `The standard score of the nearest differs by ${((100 * error) / questions).toFixed(1)} % in the mean.`,
  ]
}
