import { expect, test } from 'vitest'
import { coalesce } from '../../src/system/concurrency/coalesce.ts'

test('who calls during a run gets the next one, together with all others who did', async () => {
  const runs: PromiseWithResolvers<void>[] = []
  const call = coalesce(() => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  })
  const first = call()
  const later = [call(), call(), call()]
  expect(runs).toHaveLength(1)
  runs[0]?.resolve()
  await first
  await Promise.resolve()
  expect(runs).toHaveLength(2)
  const during = call()
  runs[1]?.resolve()
  await Promise.all(later)
  await new Promise((resolve) => setImmediate(resolve))
  expect(runs).toHaveLength(3)
  runs[2]?.resolve()
  await during
  const afterwards = call()
  expect(runs).toHaveLength(4)
  runs[3]?.resolve()
  await afterwards
})

test('a run that fails fails for those who waited for it, not for the next', async () => {
  let runs = 0
  const call = coalesce(async () => {
    if (++runs === 1) throw new Error('first')
  })
  const first = call()
  const second = call()
  await expect(first).rejects.toThrow('first')
  await second
  await call()
  expect(runs).toBe(3)
})
