import { expect, test } from 'vitest'
import { ownTurn, pauses } from '../../src/system/pauses.ts'

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

test('works that begin in one turn of the event loop share its slice', async () => {
  let steps = 0
  const work = async () => {
    const pause = pauses()
    for (let step = 0; step < 10; step++) {
      const end = performance.now() + 3
      while (performance.now() < end);
      steps++
      await pause()
    }
  }
  const all = Promise.all(Array.from({ length: works }, work))
  const inFirstTurn = await new Promise((resolve) => setImmediate(() => resolve(steps)))
  await all
  // Four steps are a slice, and each of the others notices after its first or second: without that, all take four.
  expect(inFirstTurn).toBeLessThanOrEqual(2 * works)
  expect(steps).toBe(10 * works)
})

test('works that cannot pause have a turn each, also when they begin in one', async () => {
  let done = 0
  const work = async () => {
    await ownTurn()
    const end = performance.now() + 11
    while (performance.now() < end);
    done++
  }
  const all = Promise.all(Array.from({ length: works }, work))
  const inFirstTurn = await new Promise((resolve) => setImmediate(() => resolve(done)))
  await all
  expect(done).toBe(works)
  // One that has the turn, and one of those that wait, which continues at its end.
  expect(inFirstTurn).toBeLessThanOrEqual(2)
})
