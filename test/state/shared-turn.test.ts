import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { endSharedTurn, onceInTurn, sharedTurn } from '../../src/system/concurrency/shared-turn.ts'

/** Something that others change, and how often it was looked at. */
function watched() {
  const state = { value: 1, looks: 0 }
  const look = onceInTurn(() => {
    state.looks++
    return state.value
  })
  const request = async () => {
    await sharedTurn()
    return look()
  }
  return { state, look, request }
}

test('who waits together looks once, however often each looks', async () => {
  const { state, look } = watched()
  const request = async () => {
    await sharedTurn()
    const first = look()
    await undefined
    return [first, look()]
  }
  expect(await Promise.all([request(), request(), request()])).toEqual([
    [1, 1],
    [1, 1],
    [1, 1],
  ])
  expect(state.looks).toBe(1)
})

test('who waits sees what was changed before, also where another has looked already', async () => {
  const { state, request } = watched()
  const first = request()
  state.value = 2
  expect(await first).toBe(2)
  state.value = 3
  expect(await request()).toBe(3)
})

test('who continues in a later turn looks again', async () => {
  const { state, look } = watched()
  await sharedTurn()
  expect(look()).toBe(1)
  state.value = 2
  await nextTurn()
  expect([look(), look()]).toEqual([2, 2])
  expect(state.looks).toBe(3)
})

test('after a write in the same turn all look again', async () => {
  const { state, request } = watched()
  const writer = async () => {
    await sharedTurn()
    state.value = 2
    endSharedTurn()
  }
  expect(await Promise.all([request(), writer(), request()])).toEqual([1, undefined, 2])
})
