import { expect, test } from 'vitest'
import { RevisedCache } from '../../src/state/accounts/revised-cache.ts'

function cacheOf() {
  const state = { revision: '1', reads: 0 }
  const cache = new RevisedCache<{ read: number }>(() => state.revision, { max: 2 })
  const read = async () => ({ read: ++state.reads })
  return { state, cache, get: (key: string) => cache.get(key, read) }
}

test('a value is read once, until something changes', async () => {
  const { state, get } = cacheOf()
  expect([await get('a'), await get('a')]).toEqual([{ read: 1 }, { read: 1 }])
  state.revision = '2'
  expect([await get('a'), await get('a')]).toEqual([{ read: 2 }, { read: 2 }])
})

test('a value that is read while something changes is not kept', async () => {
  const { state, cache, get } = cacheOf()
  const slow = cache.get('a', async () => {
    state.revision = '2'
    await get('b')
    return { read: 0 }
  })
  expect(await slow).toEqual({ read: 0 })
  expect(await get('a')).toEqual({ read: 2 })
})

test('what is not there is asked for again', async () => {
  const { cache, get } = cacheOf()
  expect(await cache.get('a', async () => undefined)).toBeUndefined()
  expect(await get('a')).toEqual({ read: 1 })
})

test('the value that was used least recently makes room', async () => {
  const { get } = cacheOf()
  for (const key of ['a', 'b', 'a', 'c']) await get(key)
  expect([await get('a'), await get('b')]).toEqual([{ read: 1 }, { read: 4 }])
})

test('without a revision a value is read for who asks, and once for all who ask while it is read before', async () => {
  const cache = new RevisedCache<{ read: number }>(() => undefined, { max: 2 })
  const gates = [1, 2, 3].map(() => Promise.withResolvers<void>())
  let reads = 0
  const get = (key = 'a') =>
    cache.get(key, async () => {
      const read = ++reads
      await gates[read - 1]?.promise
      return { read }
    })
  const [first, second, third, other] = [get(), get(), get(), get('b')]
  gates[1]?.resolve()
  expect(await other).toEqual({ read: 2 })
  gates[0]?.resolve()
  expect(await first).toEqual({ read: 1 })
  gates[2]?.resolve()
  expect(await Promise.all([second, third])).toEqual([{ read: 3 }, { read: 3 }])
  expect(await get()).toEqual({ read: 4 })
})
