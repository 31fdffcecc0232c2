import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FairSlots, type SlotClaim, SlotError } from '../../../src/system/concurrency/fair-slots.ts'

const never = new AbortController().signal
const limits = {
  perKey: 2,
  perRepository: 2,
  perTenant: 3,
  inAll: 4,
  waiting: 100,
  waitingPerKey: 50,
  patience: 10_000,
}

const claim = (key: string, repository = 'r', tenant = 't'): SlotClaim => ({ key, repository, tenant })

/** Whether something that is waited for has come by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), delay(5).then(() => false)])
}

test('slots are bounded by key, by repository, by tenant and in all', async () => {
  const bounded = async (taken: SlotClaim[], next: SlotClaim, other: SlotClaim) => {
    const slots = new FairSlots(limits)
    const releases = await Promise.all(taken.map((one) => slots.take(one, never)))
    const waiting = slots.take(next, never)
    expect(await isSettled(waiting)).toBe(false)
    if (taken.length < limits.inAll) (await slots.take(other, never))()
    expect(await isSettled(waiting)).toBe(false)
    releases[0]?.()
    releases[0]?.()
    await waiting
    const another = slots.take(next, never)
    expect(await isSettled(another)).toBe(false)
  }
  await bounded([claim('a', 'r'), claim('a', 's')], claim('a', 'u'), claim('b', 'r'))
  await bounded([claim('a'), claim('b')], claim('c'), claim('a', 's'))
  await bounded([claim('a', 'r'), claim('b', 's'), claim('c', 's')], claim('d', 'u'), claim('a', 'u', 'other'))
  await bounded(
    [claim('a', 'r'), claim('b', 's'), claim('c', 'u', 'other'), claim('d', 'v', 'other')],
    claim('e', 'w', 'third'),
    claim('unused'),
  )
})

test('keys are served in turn, the requests of one key as they came', async () => {
  const slots = new FairSlots({ ...limits, perRepository: 1 })
  const release = await slots.take(claim('flood'), never)
  const served: string[] = []
  const ask = async (name: string) => {
    const done = await slots.take(claim(name.split(' ')[0] ?? ''), never)
    served.push(name)
    done()
  }
  const all = ['flood 1', 'flood 2', 'flood 3', 'a 1', 'a 2', 'b 1'].map(ask)
  release()
  await Promise.all(all)
  expect(served).toEqual(['flood 1', 'a 1', 'b 1', 'flood 2', 'a 2', 'flood 3'])
})

test('a key whose repository is busy does not delay another repository', async () => {
  const slots = new FairSlots({ ...limits, perRepository: 1 })
  const [first, other] = [await slots.take(claim('a', 'r'), never), await slots.take(claim('b', 's'), never)]
  const busy = slots.take(claim('c', 'r'), never)
  const free = slots.take(claim('c', 's'), never)
  other()
  await free
  expect(await isSettled(busy)).toBe(false)
  first()
  await busy
})

test('a request is rejected when too many wait, and when it has waited for too long', async () => {
  const slots = new FairSlots({ ...limits, perRepository: 1, waiting: 3, waitingPerKey: 2, patience: 50 })
  const release = await slots.take(claim('a'), never)
  const waiting = [slots.take(claim('a'), never), slots.take(claim('a'), never)]
  await expect(slots.take(claim('a'), never)).rejects.toEqual(new SlotError('queue-full'))
  waiting.push(slots.take(claim('b'), never))
  await expect(slots.take(claim('c'), never)).rejects.toEqual(new SlotError('queue-full'))
  for (const late of waiting) await expect(late).rejects.toEqual(new SlotError('waited-too-long'))
  release()
  ;(await slots.take(claim('a'), never))()
})

test('a client that goes makes room', async () => {
  const slots = new FairSlots({ ...limits, perRepository: 1, waiting: 1 })
  const release = await slots.take(claim('a'), never)
  const leaving = new AbortController()
  const gone = slots.take(claim('a'), leaving.signal)
  leaving.abort(new Error('gone'))
  await expect(gone).rejects.toThrow('gone')
  await expect(slots.take(claim('a'), leaving.signal)).rejects.toThrow('gone')
  const next = slots.take(claim('a'), never)
  release()
  await next
})

test('closing rejects what waits and lets what runs finish', async () => {
  const slots = new FairSlots({ ...limits, perRepository: 1 })
  const release = await slots.take(claim('a'), never)
  const waiting = [slots.take(claim('a'), never), slots.take(claim('b'), never)]
  slots.close()
  for (const rejected of waiting) await expect(rejected).rejects.toEqual(new SlotError('closed'))
  await expect(slots.take(claim('a'), never)).rejects.toEqual(new SlotError('closed'))
  release()
})
