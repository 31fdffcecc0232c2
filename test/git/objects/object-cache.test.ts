import { expect, test, vi } from 'vitest'
import { hashObject } from '../../../src/git/objects/object.ts'
import { ObjectCache } from '../../../src/git/repository.ts'

/** A blob in the pool of small buffers, as a read gives it. */
function blob(text: string) {
  const data = Buffer.from(text)
  return { oid: hashObject('blob', data), object: { type: 'blob' as const, data } }
}

test('an object keeps no more memory than it has bytes', () => {
  const cache = new ObjectCache()
  for (let n = 0; n < 1_000; n++) {
    const { oid, object } = blob(`text ${n}`)
    expect(object.data.buffer.byteLength).toBeGreaterThan(object.data.length)
    cache.set(oid, { ...object, from: { base: oid, delta: { at: 0, removed: 0, insert: Buffer.from('t') } } })
    const kept = cache.get(oid)
    expect(kept).toEqual(object)
    expect(kept?.data.buffer.byteLength).toBe(object.data.length)
  }
})

test('what was used last stays when there is no more room, and small objects count as well', () => {
  const cache = new ObjectCache({ maxBytes: 16_000 })
  const first = blob('first')
  cache.set(first.oid, first.object)
  for (let n = 0; n < 1_000; n++) {
    const { oid, object } = blob(`${n}`)
    cache.set(oid, object)
    expect(cache.get(first.oid)).toBeDefined()
    expect(cache.size).toBeLessThanOrEqual(16_000)
  }
  expect(cache.get(blob('0').oid)).toBeUndefined()
  expect(cache.get(blob('999').oid)).toBeDefined()
  const large = blob('x'.repeat(1_001))
  cache.set(large.oid, large.object)
  expect(cache.get(large.oid)).toBeUndefined()
})

test('what nobody uses for a minute is forgotten', () => {
  vi.useFakeTimers()
  try {
    const cache = new ObjectCache()
    const { oid, object } = blob('text')
    cache.set(oid, object)
    vi.advanceTimersByTime(50_000)
    expect(cache.get(oid)).toBeDefined()
    vi.advanceTimersByTime(50_000)
    expect(cache.size).toBeGreaterThan(0)
    vi.advanceTimersByTime(10_000)
    expect(cache.size).toBe(0)
    expect(cache.get(oid)).toBeUndefined()
  } finally {
    vi.useRealTimers()
  }
})
