import { expect, test } from 'vitest'
import { day } from './forge-day.ts'
import { bridged } from './forge-support.ts'

test('after a day on GitHub, cut off at one request after the other, both sides agree', {
  timeout: 120_000,
}, async () => {
  const size = { count: 9, maxOpen: 8 }
  expect(await day(await bridged(size), size)).toBeGreaterThan(15)
})
