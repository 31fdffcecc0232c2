import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { advisoryTurn, runUnlessRunning } from '../../../src/state/database/engines/advisory-lock.ts'
import { testDatabase } from '../../state/support.ts'
import { eventually } from '../../support/eventually.ts'

/** Asks for turns; notes in which order they are taken. */
async function turnsOf() {
  const { db } = await testDatabase()
  const taken: string[] = []
  const take = async (who: string, name = 'one') => {
    const giveBack = await advisoryTurn(db, name)
    onTestFinished(giveBack) // also where the test failed
    taken.push(who)
    return giveBack
  }
  return { db, taken, take }
}

test('turns of one name come one after the other, and those of another name beside them', async () => {
  const { taken, take } = await turnsOf()
  const first = await take('first')
  const second = take('second')
  await take('other', 'another')
  await delay(50)
  expect(taken).toEqual(['first', 'other'])
  await first()
  await (await second)()
  expect(taken).toEqual(['first', 'other', 'second'])
})

test('beyond three that hold or wait for a turn nobody waits, so that the work itself finds a connection', async () => {
  const { taken, take } = await turnsOf()
  const first = await take('a')
  const others = [take('b'), take('c')]
  await take('d')
  expect(taken).toEqual(['a', 'd'])
  await first()
  for (const other of others) void other.then((giveBack) => giveBack())
  await Promise.all(others)
})

test('a turn that was waited for too long is waited for no longer', async () => {
  const { db, take } = await turnsOf()
  await take('first')
  const begun = performance.now()
  const late = await advisoryTurn(db, 'one')
  expect(performance.now() - begun).toBeGreaterThan(1_000)
  await late()
})

test('work that another is at is left to it', async () => {
  const { db } = await testDatabase()
  const first = Promise.withResolvers<void>()
  let hasBegun = false
  const running = runUnlessRunning(db, 'one', () => {
    hasBegun = true
    return first.promise.then(() => 'done')
  })
  await eventually(() => expect(hasBegun).toBe(true))
  expect(await runUnlessRunning(db, 'one', async () => expect.unreachable())).toBeUndefined()
  first.resolve()
  expect(await running).toBe('done')
  expect(await runUnlessRunning(db, 'one', async () => 'again')).toBe('again')
})
