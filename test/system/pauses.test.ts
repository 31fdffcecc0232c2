import { expect, test } from 'vitest'
import { pauses } from '../../src/system/pauses.ts'

const works = 8
const slices = 5

test('long works take turns: however many there are, one slice passes in a turn of the event loop', async () => {
  const done: number[] = []
  let isOver = false
  const turns: number[] = []
  const watch = () => {
    turns.push(done.length)
    if (!isOver) setImmediate(watch)
  }
  const work = async (number: number) => {
    const pause = pauses()
    for (let slice = 0; slice < slices; slice++) {
      const end = performance.now() + 11
      while (performance.now() < end);
      await pause()
      done.push(number)
    }
  }
  const all = Promise.all(Array.from({ length: works }, (_, number) => work(number)))
  setImmediate(watch)
  await all
  isOver = true
  const perTurn = turns.map((count, at) => count - (turns[at - 1] ?? 0))
  expect(Math.max(...perTurn)).toBe(1)
  // Each in its order, none before the others have had theirs.
  expect(done).toEqual(
    Array.from({ length: slices }, () => Array.from({ length: works }, (_, number) => number)).flat(),
  )
})
