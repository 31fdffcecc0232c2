import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { EstimatedNearness } from '../src/search/vectors/estimated-nearness.ts'
import { cosine, type Quantised, quantise, SignRows } from '../src/search/vectors/sign-rows.ts'
import { VectorStore } from '../src/search/vectors/vector-store.ts'
import { workFolder } from './support/measure.ts'
import { seeded } from './support/seeded.ts'

const dimensions = Number(process.env.DIMENSIONS ?? 384)
const topics = 2000
const questions = 50
const limit = 100

/**
 * The search by meaning, against the cosines of all vectors by a plain loop: how much of the nearest 100 it finds, and how long it
 * takes. The vectors are generated: noise around 2,000 topics, with components that matter less and less, as those of models
 * do. `VECTORS` says how many, `DIMENSIONS` how long they are.
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
  const all: Quantised[] = []
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
      all.push(vector)
      signs.push(vector)
    }
  }
  const chunks = Array.from({ length: count }, (_, row) => row)
  // Each chunk is a page.
  const catalog = { pageOf: (chunk: number) => chunk, keyOf: String }
  const known = { chunks, rowOf: chunks, catalog }
  const asked = Array.from({ length: questions }, (_, n) => quantise(noisy(centerOf(n * 37), 0.9)))
  const times = { exact: [] as number[], stages: [] as number[] }
  const timed = <Found>(of: keyof typeof times, work: () => Found) => {
    const begin = performance.now()
    const found = work()
    times[of].push(performance.now() - begin)
    return found
  }
  let [hit, hitOfTen, error] = [0, 0, 0]
  for (const query of asked) {
    const cosines = timed('exact', () => Float32Array.from(all, (vector) => cosine(query, vector)))
    const best = chunks.toSorted((a, b) => (cosines[b] ?? 0) - (cosines[a] ?? 0)).slice(0, limit)
    const read = (row: number) => {
      const vector = signs.vectorOf(row) ?? store.at(places[row] ?? 0)
      return vector && cosine(query, vector)
    }
    const nearest = timed('stages', () =>
      new EstimatedNearness(query, { signs, cosine: read }, known, () => true).nearest(limit),
    )
    error += Math.abs((nearest[0]?.score ?? 0) / standardScore(cosines, best[0] ?? 0) - 1)
    const found = new Set(nearest.map(({ chunk }) => chunk))
    hit += best.filter((chunk) => found.has(chunk)).length
    hitOfTen += best.slice(0, 10).filter((chunk) => found.has(chunk)).length
  }
  store.close()
  const at = (values: number[], share: number) =>
    (values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)] ?? 0).toFixed(1)
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0)
  return [
    `| ${count} vectors of ${dimensions} dimensions | ms p50 | p95 | in memory, MB | of the nearest 10 found | of the nearest 100 |`,
    '|---|---|---|---|---|---|',
    `| plain loop | ${at(times.exact, 0.5)} | ${at(times.exact, 0.95)} | ${megabytes(count * dimensions)} | 1 | 1 |`,
    `| in two stages | ${at(times.stages, 0.5)} | ${at(times.stages, 0.95)} | ${megabytes(signs.size)} | ${(hitOfTen / 10 / questions).toFixed(3)} | ${(hit / limit / questions).toFixed(3)} |`,
    '',
    `The standard score of the nearest differs by ${((100 * error) / questions).toFixed(1)} % in the mean.`,
  ]
}

function standardScore(values: Float32Array, at: number): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return ((values[at] ?? 0) - mean) / Math.sqrt(squares / values.length)
}
