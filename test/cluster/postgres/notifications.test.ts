import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Database } from '../../../src/state/database/database.ts'
import { inTransaction } from '../../../src/state/database/transaction.ts'
import { EventLog } from '../../../src/state/event-store.ts'
import { Jobs } from '../../../src/state/jobs.ts'
import { nodes, openedNode, ownServer, withKb } from '../support/nodes.ts'

/** The subjects that a node was told of a topic, once it listens. */
async function listening({ notifications }: Database) {
  const told: (string | undefined)[] = []
  notifications.listen('refs', (subject) => told.push(subject))
  // Whoever begins to listen is woken, since something may have been before.
  await expect.poll(() => told).toEqual([undefined])
  told.length = 0
  return told
}

test('what is written is told to all nodes once it is committed, and never where it is rolled back', async () => {
  const [one, other = one] = await nodes(2)
  const [own, theirs] = [await listening(one), await listening(other)]
  await inTransaction(one.db, async (transaction) => {
    await one.notifications.send(transaction, 'refs', 'a')
    await delay(20)
    expect([own, theirs]).toEqual([[], []])
  })
  expect(own).toEqual(['a'])
  const failing = inTransaction(one.db, async (transaction) => {
    await one.notifications.send(transaction, 'refs', 'never')
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await one.notifications.send(one.db, 'refs', 'b')
  await expect.poll(() => theirs).toEqual(['a', 'b'])
  expect(own).toEqual(['a', 'b'])
})

test('a node whose connection for notifications is lost wakes everybody, and listens again', async () => {
  const server = await ownServer()
  const [one, other] = [await openedNode(server.address('ganglion')), await openedNode(server.address('ganglion'))]
  const told = await listening(one)
  await server.run(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ganglion notifications'",
  )
  await expect.poll(() => told).toEqual([undefined, undefined])
  await server.stop()
  // Once it is back, the node may listen again before the test goes on.
  told.length = 0
  await server.begin()
  await expect.poll(() => told.length).toBeGreaterThan(0)
  await expect
    .poll(async () => {
      await other.notifications.send(other.db, 'refs', 'a')
      return told
    })
    .toContain('a')
})

test('events and jobs of one node wake the readers and runners of another', async () => {
  const [one, other = one] = await nodes(2)
  const tenantId = await withKb(one)
  const [log, theirs] = [one, other].map(({ db, notifications }) => new EventLog(db, { notifications }))
  const [jobs, elsewhere] = [one, other].map(({ db, notifications }) => new Jobs(db, notifications))
  if (log === undefined || theirs === undefined || jobs === undefined || elsewhere === undefined) throw new Error()
  await listening(other)
  const told: string[] = []
  elsewhere.listen({ onWaiting: () => told.push('waiting'), onCancelled: (id) => told.push(id) })
  const arrival = theirs.arrival(tenantId, theirs.arrivals(tenantId), new AbortController().signal)
  await log.append(tenantId, [{ kbId: 'kb', kind: 'kb.pushed', isCuratorOnly: false, data: {} }], new Date())
  await arrival
  expect(await theirs.after(tenantId, 0, 10)).toHaveLength(1)
  await jobs.enqueue({ documentId: '1', tenantId, kbId: 'kb' }, new Date())
  await jobs.cancel('1')
  // A runner is woken from time to time anyway.
  await expect.poll(() => new Set(told)).toEqual(new Set(['waiting', '1']))
})
