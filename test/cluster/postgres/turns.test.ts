import { expect, test } from 'vitest'
import { inTurn, unlessAtWork } from '../../../src/store/engines/advisory-lock.ts'
import { testDatabase } from '../../store/support.ts'
import { eventually } from '../../support/eventually.ts'

/** Work that says when it has begun, and ends when it is told to. */
function gate(begun: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = async () => {
    begun.push(name)
    await promise
    return name
  }
  return { work, end: resolve }
}

test('turns of one name come one after the other, and those of another name beside them', async () => {
  const { db } = await testDatabase()
  const begun: string[] = []
  const [first, second, other] = ['first', 'second', 'other'].map((name) => gate(begun, name))
  if (first === undefined || second === undefined || other === undefined) throw new Error()
  const running = [inTurn(db, 'one', first.work)]
  await eventually(() => expect(begun).toEqual(['first']))
  running.push(inTurn(db, 'one', second.work), inTurn(db, 'another', other.work))
  await eventually(() => expect(begun).toEqual(['first', 'other']))
  for (const { end } of [first, second, other]) end()
  expect(await Promise.all(running)).toEqual(['first', 'second', 'other'])
})

test('beyond three that hold or wait for a turn nobody waits, so that the work itself finds a connection', async () => {
  const { db } = await testDatabase()
  const begun: string[] = []
  const gates = ['a', 'b', 'c', 'd'].map((name) => gate(begun, name))
  const running = gates.map(({ work }) => inTurn(db, 'one', work))
  await eventually(() => expect(begun).toHaveLength(2))
  expect(begun[0]).toBe('d')
  for (const { end } of gates) end()
  await Promise.all(running)
})

test('a turn ends with work that fails', async () => {
  const { db } = await testDatabase()
  await expect(inTurn(db, 'one', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await inTurn(db, 'one', async () => 'next')).toBe('next')
})

test('work that another is at is left to it', async () => {
  const { db } = await testDatabase()
  const begun: string[] = []
  const first = gate(begun, 'first')
  const running = unlessAtWork(db, 'one', async () => void (await first.work()))
  await eventually(() => expect(begun).toEqual(['first']))
  expect(await unlessAtWork(db, 'one', async () => expect.unreachable())).toBe(false)
  first.end()
  expect(await running).toBe(true)
  expect(await unlessAtWork(db, 'one', async () => {})).toBe(true)
})
