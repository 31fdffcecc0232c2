import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { GitSlotError, GitSlots } from '../../src/git/git-slots.ts'

const never = new AbortController().signal
const limits = { perRepository: 2, inAll: 3, waiting: 2, patience: 10_000 }

/** Whether something that is waited for has come by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), delay(5).then(() => false)])
}

test('slots are bounded by repository and in all, and go to who came first and may have one', async () => {
  const slots = new GitSlots(limits)
  const releaseA = await slots.take('a', never)
  await slots.take('a', never)
  const third = slots.take('a', never)
  expect(await isSettled(third)).toBe(false)
  const releaseB = await slots.take('b', never)
  const other = slots.take('c', never)
  expect(await isSettled(other)).toBe(false)
  releaseB()
  await other
  expect(await isSettled(third)).toBe(false)
  releaseA()
  releaseA()
  await third
})

test('who comes when too many wait is sent away, and so is who has waited for too long', async () => {
  const slots = new GitSlots({ ...limits, perRepository: 1, patience: 50 })
  const release = await slots.take('a', never)
  const waiting = [slots.take('a', never), slots.take('a', never)]
  await expect(slots.take('a', never)).rejects.toEqual(new GitSlotError('queue-full'))
  for (const late of waiting) await expect(late).rejects.toEqual(new GitSlotError('waited-too-long'))
  release()
  ;(await slots.take('a', never))()
})

test('who gives up makes room', async () => {
  const slots = new GitSlots({ ...limits, perRepository: 1, waiting: 1 })
  const release = await slots.take('a', never)
  const leaving = new AbortController()
  const gone = slots.take('a', leaving.signal)
  leaving.abort(new Error('gone'))
  await expect(gone).rejects.toThrow('gone')
  await expect(slots.take('a', leaving.signal)).rejects.toThrow('gone')
  const next = slots.take('a', never)
  release()
  await next
})
