import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { IndexTurns } from '../../src/search/search-pool.ts'

test('the one asked last is next, and every other time the one that has waited longest', async () => {
  const turns = new IndexTurns()
  const order: string[] = []
  const ends = [await turns.take('busy'), await turns.take('busy')]
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    void turns.take(key).then((end) => {
      order.push(key)
      ends.push(end)
    })
  }
  for (const key of ['b', 'd', 'c']) turns.ask(key)
  for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
    end()
    await turn()
  }
  expect(order).toEqual(['c', 'a', 'd', 'b', 'e'])
  const again = await turns.take('x')
  again()
})
