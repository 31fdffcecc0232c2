import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WriteTurns } from '../../src/kb/cluster/cluster-refs.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Turns, and what was done in them: `(` is a turn that was taken, `)` one that was given back. */
function noted() {
  let log = ''
  const turns = new WriteTurns(async () => {
    log += '('
    return async () => {
      log += ')'
    }
  })
  const write = (ms = 0) =>
    turns.run(async () => {
      log += 'w'
      await vi.advanceTimersByTimeAsync(ms)
    })
  const fail = () => turns.run(() => Promise.reject(new Error('failed')))
  return { write, fail, log: () => log }
}

test('a turn is kept for batches that follow each other, and given back when there are none', async () => {
  const { write, log } = noted()
  await write()
  await vi.advanceTimersByTimeAsync(10)
  await write()
  await vi.advanceTimersByTimeAsync(100)
  await write()
  expect(log()).toBe('(ww)(w')
  await vi.advanceTimersByTimeAsync(100)
  expect(log()).toBe('(ww)(w)')
})

test('a turn is given back after a while, however much there is to write', async () => {
  const { write, log } = noted()
  for (let n = 0; n < 6; n++) await write(100)
  expect(log()).toBe('(www)(www)')
})

test('a turn is given back after work that fails', async () => {
  const { fail, log } = noted()
  await expect(fail()).rejects.toThrow('failed')
  await vi.advanceTimersByTimeAsync(100)
  expect(log()).toBe('()')
})
