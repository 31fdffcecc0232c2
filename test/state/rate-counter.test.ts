import { expect, test } from 'vitest'
import { rateCounter } from '../../src/state/rate-counter.ts'
import { testDatabase } from './support.ts'

async function counter(name = 'test') {
  const { db } = await testDatabase()
  const database = { db, now: () => new Date() }
  return { database, counter: rateCounter(database, { name, span: 60_000 }) }
}

test('points are counted by key, given back and forgotten', async () => {
  const { counter: uses } = await counter()
  expect(await uses.read('a')).toEqual({ points: 0, endsIn: 0 })
  const first = await uses.add('a', 1)
  expect(first.points).toBe(1)
  expect(first.endsIn).toBeGreaterThan(59_000)
  expect(first.endsIn).toBeLessThanOrEqual(60_000)
  const added = await Promise.all(Array.from({ length: 10 }, () => uses.add('a', 1)))
  expect(added.map(({ points }) => points).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  expect(await uses.add('a', -1)).toMatchObject({ points: 10 })
  expect(await uses.read('a')).toMatchObject({ points: 10 })
  expect(await uses.add('b', 1)).toMatchObject({ points: 1 })
  await uses.remove('a')
  expect(await uses.read('a')).toMatchObject({ points: 0 })
})

test('counts of different names stand apart', async () => {
  const { database, counter: one } = await counter('one')
  const other = rateCounter(database, { name: 'other', span: 60_000 })
  await one.add('a', 5)
  expect(await other.add('a', 1)).toMatchObject({ points: 1 })
})
