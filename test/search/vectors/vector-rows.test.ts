import { expect, test } from 'vitest'
import { fromBlob, quantise, toBlob } from '../../../src/search/vectors/quantise.ts'
import { VectorRows } from '../../../src/search/vectors/vector-rows.ts'
import { fc } from '../../support/properties.ts'

const Component = fc.integer({ min: -1000, max: 1000 })
const vectorOf = (dimensions: number) =>
  fc
    .array(Component, { minLength: dimensions, maxLength: dimensions })
    .filter((components) => components.some((component) => component !== 0))
    .map((components) => Float32Array.from(components))

function cosine(a: Float32Array, b: Float32Array): number {
  let [product, ofA, ofB] = [0, 0, 0]
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? 0
    product += left * right
    ofA += left * left
    ofB += right * right
  }
  return product / Math.sqrt(ofA * ofB)
}

function cosinesOf(rows: VectorRows, query: Float32Array, from = 0, count = rows.count - from): Map<number, number> {
  const found = new Map<number, number>()
  rows.cosines(quantise(query), from, count, (row, value) => found.set(row, value))
  return found
}

test('cosines of quantised vectors are those of the vectors, but for rounding, whatever their length', () => {
  const Case = fc.integer({ min: 1, max: 70 }).chain((dimensions) =>
    fc.record({
      query: vectorOf(dimensions),
      vectors: fc.array(vectorOf(dimensions), { minLength: 1, maxLength: 20 }),
    }),
  )
  fc.assert(
    fc.property(Case, ({ query, vectors }) => {
      const rows = new VectorRows(query.length)
      for (const vector of vectors) rows.push(quantise(vector))
      for (const [row, value] of cosinesOf(rows, query)) {
        // Rounding changes a component by half a byte at most, of 127.
        expect(value).toBeCloseTo(cosine(query, vectors[row] ?? query), 1)
      }
    }),
  )
})

test('the largest products do not overflow', () => {
  const dimensions = 4096
  const rows = new VectorRows(dimensions)
  const ones = new Float32Array(dimensions).fill(1)
  rows.push(quantise(ones))
  rows.push(quantise(ones.map((one) => -one)))
  const [same, opposite] = cosinesOf(rows, ones).values()
  expect(same).toBeCloseTo(1, 4)
  expect(opposite).toBeCloseTo(-1, 4)
})

test('a vector is kept as it is, huge or tiny', () => {
  for (const scale of [1e-30, 1, 1e30]) {
    const quantised = quantise(Float32Array.of(3 * scale, -4 * scale, 0))
    expect(fromBlob(toBlob(quantised))).toEqual(quantised)
    expect([...quantised.bytes]).toEqual([95, -127, 0])
    expect(quantised.scale * 127).toBeCloseTo(0.8, 5)
  }
})

test('more rows than one block, some of which are kept, have the cosines that they had', () => {
  const rows = new VectorRows(3)
  const vectors = Array.from({ length: 10_000 }, (_, row) => Float32Array.of(row + 1, 5000, -row))
  for (const vector of vectors) rows.push(quantise(vector))
  const query = Float32Array.of(1, 2, 3)
  const before = cosinesOf(rows, query)
  expect(before.size).toBe(10_000)
  expect(cosinesOf(rows, query, 4090, 10)).toEqual(new Map([...before].slice(4090, 4100)))
  const kept = vectors.flatMap((_, row) => (row % 3 === 1 ? [row] : []))
  rows.keep(kept)
  rows.push(quantise(Float32Array.of(1, 2, 3)))
  const after = [...cosinesOf(rows, query).values()]
  expect(after.slice(0, -1)).toEqual(kept.map((row) => before.get(row)))
  expect(after.at(-1)).toBeCloseTo(1, 2)
})
