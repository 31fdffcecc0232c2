import { expect, test } from 'vitest'
import { inUse, PresentWork, presentCaller } from '../../../src/system/concurrency/present-work.ts'

test('a task within a task has its caller, and one that has ended has none', async () => {
  const work = new PresentWork(() => 'ann')
  expect(await work.run(() => inUse(async () => presentCaller()))).toBe('ann')
  work.end()
  expect([work.run(presentCaller), presentCaller(), work.run(() => PresentWork.current)]).toEqual(['', '', undefined])
})
