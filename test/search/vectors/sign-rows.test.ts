import { expect, test } from 'vitest'
import { EstimatedNearness } from '../../../src/search/vectors/estimated-nearness.ts'
import { cosine, fromBlob, type Quantised, quantise, SignRows, toBlob } from '../../../src/search/vectors/sign-rows.ts'
import { fc } from '../../support/properties.ts'

/** The same numbers in [-1, 1) for the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  }
}

function vectors(count: number, dimensions: number, seed = 1): Quantised[] {
  const next = numbers(seed)
  return Array.from({ length: count }, () => quantise(Float32Array.from({ length: dimensions }, next)))
}

function distancesOf(rows: SignRows, query: Quantised, from = 0, count = rows.count - from): number[] {
  const distanceOf = rows.distancesTo(query)
  return Array.from({ length: count }, (_, at) => distanceOf(from + at))
}

function filled(all: readonly Quantised[]): SignRows {
  const rows = new SignRows(all[0]?.bytes.length ?? 0)
  for (const one of all) rows.push(one)
  return rows
}

test.each([1, 3, 127, 128, 129, 384, 1536, 4096])(
  'of %i dimensions, a vector has its own signs, and its opposite all others',
  (dimensions) => {
    const [one, other] = vectors(2, dimensions, dimensions)
    if (one === undefined || other === undefined) throw new Error('There is none.')
    const opposite = { ...one, bytes: one.bytes.map((byte) => -byte) }
    const [own, far, farthest] = distancesOf(filled([one, other, opposite]), one)
    expect(own).toBe(0)
    // A component that is exactly 0 has the same sign in both.
    expect(farthest).toBeGreaterThan(filled([one]).farthest * 0.9)
    if (dimensions > 100) expect(Math.abs((far ?? 0) / filled([one]).farthest - 0.5)).toBeLessThan(0.15)
  },
)

test('the share of bits that differ is near the angle', () => {
  const dimensions = 512
  const [a, b] = vectors(2, dimensions, 5)
  if (a === undefined || b === undefined) throw new Error('There is none.')
  for (const part of [0, 0.2, 0.5, 0.8, 1]) {
    const between = quantise(Float32Array.from(a.bytes, (byte, at) => (1 - part) * byte + part * (b.bytes[at] ?? 0)))
    const angle = Math.acos(Math.min(1, cosine(a, between))) / Math.PI
    const [distance = 0] = distancesOf(filled([between]), a)
    expect(Math.abs(distance / 512 - angle)).toBeLessThan(0.06)
  }
})

test('more rows than one block, some of which are kept, have the distances and lots that they had', () => {
  const all = vectors(9000, 20)
  const rows = filled(all)
  const query = vectors(1, 20, 9)[0] ?? { scale: 1, bytes: new Int8Array(20) }
  const before = distancesOf(rows, query)
  expect(distancesOf(rows, query, 4090, 10)).toEqual(before.slice(4090, 4100))
  const lots = all.map((_, row) => rows.lotOf(row))
  const kept = all.flatMap((_, row) => (row % 3 === 1 ? [row] : []))
  rows.keep(kept)
  rows.push(query)
  expect(rows.count).toBe(kept.length + 1)
  expect(distancesOf(rows, query)).toEqual([...kept.map((row) => before[row]), 0])
  expect(kept.map((_, row) => rows.lotOf(row))).toEqual(kept.map((row) => lots[row]))
})

const catalog = { pageOf: (chunk: number) => chunk, keyOf: String }

/** The search over vectors of which some are visible; `order` is that in which they came. */
function search(
  all: readonly Quantised[],
  query: Quantised,
  order: readonly number[],
  isVisible: (one: number) => boolean,
): EstimatedNearness {
  const signs = new SignRows(query.bytes.length)
  const rowOf: number[] = []
  for (const [row, one] of order.entries()) {
    signs.push(all[one] ?? query)
    rowOf[one] = row
  }
  const vectors = { signs, cosine: (row: number) => cosine(signs.vectorOf(row) ?? query, query) }
  return new EstimatedNearness(query, vectors, { chunks: order, rowOf, catalog }, isVisible)
}

test.each([64, 384])(
  'of %i dimensions, the nearest are found as by their cosines, with nearly the same scores, and nothing that is hidden',
  (dimensions) => {
    const all = vectors(6000, dimensions)
    const query = all[17] ?? quantise(Float32Array.of(1))
    const isVisible = (one: number) => one % 4 !== 0
    const nearness = search(all, query, [...all.keys()], isVisible)
    const visible = [...all.keys()].filter(isVisible)
    const cosines = all.map((vector) => cosine(vector, query))
    const mean = visible.reduce((sum, one) => sum + (cosines[one] ?? 0), 0) / visible.length
    const squares = visible.reduce((sum, one) => sum + ((cosines[one] ?? 0) - mean) ** 2, 0)
    const scoreOf = (one: number) => ((cosines[one] ?? 0) - mean) / Math.sqrt(squares / visible.length)
    const found = nearness.nearest(100)
    expect(found[0]?.chunk).toBe(17)
    expect(found.every(({ chunk }) => isVisible(chunk))).toBe(true)
    expect(found).toHaveLength(100)
    const best = visible.toSorted((a, b) => scoreOf(b) - scoreOf(a)).slice(0, 10)
    expect(best.filter((one) => !found.some(({ chunk }) => chunk === one)).length).toBeLessThanOrEqual(1)
    expect(nearness.count).toBe(visible.length)
    for (const chunk of [21, 5999]) expect(nearness.of(chunk)).toBeCloseTo(scoreOf(chunk), 0)
    // What a sample of 1,000 says of the deviation is some 5 % off.
    expect(Math.abs((nearness.of(17) ?? 0) / scoreOf(17) - 1)).toBeLessThan(0.15)
    expect([nearness.of(16), nearness.of(7000)]).toEqual([undefined, undefined])
  },
)

test('neither the order in which vectors came, nor those that are hidden, change a score', () => {
  const all = vectors(3000, 32)
  const hidden = vectors(3000, 32, 77)
  const query = vectors(1, 32, 3)[0] ?? hidden[0]
  if (query === undefined) throw new Error('There is none.')
  const order = all.map((_, one) => one)
  const plain = search(all, query, order, () => true)
  const twin = search(
    [...all, ...hidden],
    query,
    [...hidden.map((_, at) => 3000 + at), ...order.toReversed()],
    (one) => one < 3000,
  )
  expect(twin.nearest(50)).toEqual(plain.nearest(50))
  expect(twin.count).toBe(plain.count)
  expect(twin.of(5)).toBe(plain.of(5))
})

test('few, equal, or vanished vectors are no error', () => {
  const [one] = vectors(1, 8)
  if (one === undefined) throw new Error('There is none.')
  const same = search([one, one, one], one, [0, 1, 2], () => true)
  expect(same.nearest(10)).toHaveLength(3)
  expect(same.of(1)).toBe(0)
  const none = search([one], one, [0], () => false)
  expect([none.count, none.nearest(10)]).toEqual([0, []])
  const signs = filled([one, one])
  const lost = { signs, cosine: () => undefined }
  const gone = new EstimatedNearness(one, lost, { chunks: [0, 1], rowOf: [0, 1], catalog }, () => true)
  expect([gone.nearest(5), gone.of(0)]).toEqual([[], undefined])
})

test('the bits that differ are counted right, whatever the vectors', () => {
  const Component = fc.integer({ min: -127, max: 127 })
  const Vector = fc
    .array(Component, { minLength: 5, maxLength: 5 })
    .map((bytes) => ({ scale: 1, bytes: Int8Array.from(bytes) }))
  fc.assert(
    fc.property(Vector, Vector, Vector, (a, b, c) => {
      const rows = filled([a, b, c])
      const [ab, ac] = [distancesOf(rows, a)[1] ?? 0, distancesOf(rows, a)[2] ?? 0]
      // A metric: symmetric, and no way around is shorter.
      expect(distancesOf(rows, b)[0]).toBe(ab)
      expect(distancesOf(rows, b)[2]).toBeLessThanOrEqual(ab + ac)
    }),
  )
})

test('a vector is kept as it is, huge or tiny', () => {
  for (const scale of [1e-30, 1, 1e30]) {
    const quantised = quantise(Float32Array.of(3 * scale, -4 * scale, 0))
    expect(fromBlob(toBlob(quantised))).toEqual(quantised)
    expect([...quantised.bytes]).toEqual([95, -127, 0])
    expect(quantised.scale * 127).toBeCloseTo(0.8, 5)
  }
})

test('cosines of quantised vectors are those of the vectors, but for rounding', () => {
  const Component = fc.integer({ min: -1000, max: 1000 })
  const Vector = fc
    .array(Component, { minLength: 20, maxLength: 20 })
    .filter((components) => components.some((component) => component !== 0))
    .map((components) => Float32Array.from(components))
  fc.assert(
    fc.property(Vector, Vector, (a, b) => {
      const product = a.reduce((sum, left, at) => sum + left * (b[at] ?? 0), 0)
      // Rounding changes a component by half a byte at most, of 127.
      expect(cosine(quantise(a), quantise(b))).toBeCloseTo(product / (Math.hypot(...a) * Math.hypot(...b)), 1)
    }),
  )
})

test('vectors that are in memory are kept with their rows, up to a bound of bytes', () => {
  const all = vectors(9, 20)
  const rows = new SignRows(20, 5 * 24)
  for (const one of all) rows.push(one)
  expect(all.map((_, row) => rows.vectorOf(row))).toEqual(all.map((one, row) => (row < 5 ? one : undefined)))
  rows.keep([1, 3, 6])
  for (const one of all) rows.push(one)
  expect([0, 1, 2, 3].map((row) => rows.vectorOf(row))).toEqual([all[1], all[3], undefined, undefined])
})
