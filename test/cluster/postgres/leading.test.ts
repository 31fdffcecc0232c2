import { expect, test } from 'vitest'
import type { Database } from '../../../src/state/database/database.ts'
import { nodes, openedNode, ownServer } from '../support/nodes.ts'

/** Does something while a node leads; tells by name when it begins and ends. */
async function leading({ lead }: Database, name: string, told: string[]) {
  return lead(async () => {
    told.push(`${name} begins`)
    return () => told.push(`${name} ends`)
  })
}

test('one node at a time leads, and another follows when it leaves', async () => {
  const [one, other = one] = await nodes(2)
  const told: string[] = []
  const leave = await leading(one, 'one', told)
  await expect.poll(() => told).toEqual(['one begins'])
  const leaveOther = await leading(other, 'other', told)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(told).toEqual(['one begins'])
  await leave()
  expect(told).toEqual(['one begins', 'one ends'])
  await expect.poll(() => told).toEqual(['one begins', 'one ends', 'other begins'])
  await leaveOther()
})

test('a node that loses its connection no longer leads, until it has one again', async () => {
  const server = await ownServer()
  const told: string[] = []
  const leave = await leading(await openedNode(server.address('ganglion')), 'one', told)
  await expect.poll(() => told).toEqual(['one begins'])
  await server.stop()
  await expect.poll(() => told).toEqual(['one begins', 'one ends'])
  await server.begin()
  await expect.poll(() => told).toEqual(['one begins', 'one ends', 'one begins'])
  await leave()
})

test('what is to be done alone is done by one node after the other', async () => {
  const all = await nodes(4)
  const running: string[] = []
  const most: number[] = []
  const work = (name: string) => async () => {
    running.push(name)
    most.push(running.length)
    await new Promise((resolve) => setTimeout(resolve, 20))
    running.pop()
    if (name === '2') throw new Error('no')
    return name
  }
  const results = await Promise.allSettled(all.map(({ alone }, n) => alone(work(String(n)))))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(most).toEqual([1, 1, 1, 1])
})
