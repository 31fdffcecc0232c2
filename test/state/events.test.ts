import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Database } from '../../src/state/database/database.ts'
import { EventLog, type NewEvent } from '../../src/state/event-store.ts'
import { KnowledgeBases } from '../../src/state/kb-store.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { runNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'
import { at, testDatabase } from './support.ts'

const kbId = 'kb-of-acme'
const day = 24 * 60 * 60 * 1000

async function withTenant({ db }: Database, slug = 'acme'): Promise<string> {
  const { id: tenantId } = await new Tenants(db).ensure(slug, at('09:00'))
  await new KnowledgeBases(db).create({ id: `kb-of-${slug}`, tenantId, slug, prefix: slug }, at('09:00'))
  return tenantId
}

async function newLog(options: { maxKept?: number } = {}) {
  const database = await testDatabase()
  const tenantId = await withTenant(database)
  return { database, tenantId, log: new EventLog(database.db, options) }
}

function event(changes: Partial<NewEvent> = {}): NewEvent {
  return { kbId, kind: 'kb.pushed', isCuratorOnly: false, data: {}, ...changes }
}

async function idsOf(log: EventLog, tenantId: string): Promise<number[]> {
  return (await log.after(tenantId, 0, 1_000)).map(({ id }) => id)
}

test('events come back as they were, in order, with ids that grow by one', async () => {
  const { log, tenantId } = await newLog()
  const approved = event({ kind: 'candidate.approved', data: { candidateId: 'c', seqId: 's', status: 'approved' } })
  await log.append(tenantId, [event(), approved], at('10:00'))
  await log.append(tenantId, [event({ isCuratorOnly: true, data: { problems: ['a', 'b'] } })], at('11:00'))
  expect(await log.after(tenantId, 0, 10)).toEqual([
    { ...event(), id: 1, at: '2026-03-01T10:00:00.000Z' },
    { ...approved, id: 2, at: '2026-03-01T10:00:00.000Z' },
    { ...event({ isCuratorOnly: true, data: { problems: ['a', 'b'] } }), id: 3, at: '2026-03-01T11:00:00.000Z' },
  ])
  expect((await log.after(tenantId, 1, 1)).map(({ id }) => id)).toEqual([2])
})

test('each tenant has ids and events of its own', async () => {
  const { database, log, tenantId } = await newLog()
  const other = await withTenant(database, 'globex')
  await log.append(tenantId, [event(), event()], at('10:00'))
  await log.append(other, [event({ kbId: 'kb-of-globex' })], at('10:00'))
  expect([await log.range(tenantId), await log.range(other)]).toEqual([
    { first: 1, last: 2 },
    { first: 1, last: 1 },
  ])
  expect((await log.after(other, 0, 10)).map(({ kbId }) => kbId)).toEqual(['kb-of-globex'])
})

test('the range of a tenant without events is empty', async () => {
  const { log, tenantId } = await newLog()
  expect(await log.range(tenantId)).toEqual({ first: 1, last: 0 })
})

test('what happened between two states of the refs is told once', async () => {
  const { log, tenantId } = await newLog()
  const kb = { id: kbId, tenantId }
  const [start, end] = [
    { main: 'a', queue: undefined },
    { main: 'b', queue: 'c' },
  ]
  expect(await log.loggedHeads(kbId)).toBeUndefined()
  expect(await log.logChanges(kb, start, end, [event()], at('10:00'))).toBe(false)
  await log.begin(kbId, start)
  await log.begin(kbId, end)
  expect(await log.loggedHeads(kbId)).toEqual(start)
  expect(await log.logChanges(kb, start, end, [event()], at('10:00'))).toBe(true)
  expect(await log.logChanges(kb, start, end, [event()], at('10:00'))).toBe(false)
  expect(await log.loggedHeads(kbId)).toEqual(end)
  expect(await idsOf(log, tenantId)).toEqual([1])
})

test('where the events cannot be written, they do not count as told', async () => {
  const { log, tenantId } = await newLog()
  const heads = { main: 'a', queue: 'b' }
  await log.begin(kbId, heads)
  const telling = log.logChanges(
    { id: kbId, tenantId },
    heads,
    { main: 'c', queue: 'd' },
    [event({ kbId: 'none' })],
    at('10:00'),
  )
  await expect(telling).rejects.toThrow(/foreign key/i)
  expect(await log.loggedHeads(kbId)).toEqual(heads)
})

test('events go after seven days, but the last of a tenant stays, and its id is not given again', async () => {
  const { log, tenantId } = await newLog()
  const begin = at('10:00')
  const after = (days: number) => new Date(begin.getTime() + days * day)
  await log.append(tenantId, [event(), event()], begin)
  await log.append(tenantId, [event()], after(1))
  expect(await log.sweep(after(6.9))).toBe(0)
  expect(await log.sweep(after(7))).toBe(2)
  expect(await idsOf(log, tenantId)).toEqual([3])
  expect(await log.sweep(after(30))).toBe(0)
  await log.append(tenantId, [event()], after(30))
  expect(await log.sweep(after(30))).toBe(1)
  expect(await idsOf(log, tenantId)).toEqual([4])
})

test('the oldest events go where there are too many', async () => {
  const { log, tenantId } = await newLog({ maxKept: 3 })
  for (let n = 0; n < 5; n++) await log.append(tenantId, [event()], at('10:00'))
  expect(await idsOf(log, tenantId)).toEqual([3, 4, 5])
  await log.append(
    tenantId,
    Array.from({ length: 2_500 }, () => event()),
    at('10:00'),
  )
  expect(await idsOf(log, tenantId)).toEqual([2503, 2504, 2505])
})

test('whoever waits for a tenant is woken by its next event, and by no other', async () => {
  const { database, log, tenantId } = await newLog()
  const other = await withTenant(database, 'globex')
  const woken: string[] = []
  const { signal } = new AbortController()
  const arrivals = [tenantId, tenantId, other].map((id) =>
    log.arrival(id, log.arrivals(id), signal).then(() => woken.push(id)),
  )
  await log.append(tenantId, [event()], at('10:00'))
  await Promise.all(arrivals.slice(0, 2))
  expect(woken).toEqual([tenantId, tenantId])
  log.wake(other)
  await arrivals[2]
})

test('whoever waits is not kept by an event that came before, and one who leaves wakes nobody else', async () => {
  const { log, tenantId } = await newLog()
  const seen = log.arrivals(tenantId)
  await log.append(tenantId, [event()], at('10:00'))
  const leaving = new AbortController()
  await log.arrival(tenantId, seen, leaving.signal)
  const woken: string[] = []
  const wait = (name: string, signal: AbortSignal) =>
    log.arrival(tenantId, log.arrivals(tenantId), signal).then(() => woken.push(name))
  const staying = wait('staying', new AbortController().signal)
  const left = wait('leaving', leaving.signal)
  leaving.abort()
  await left
  await wait('gone', leaving.signal)
  expect(woken).toEqual(['leaving', 'gone'])
  log.wake(tenantId)
  await staying
})

test('readers that one event wakes share a read, and none begins before an event that it has to find', async () => {
  const { log, tenantId } = await newLog()
  await log.append(tenantId, [event()], at('10:00'))
  const [one, other] = [log.after(tenantId, 0, 10), log.after(tenantId, 0, 10)]
  await log.append(tenantId, [event()], at('10:01'))
  const later = log.after(tenantId, 0, 10)
  expect(await one).toBe(await other)
  expect(await later).toHaveLength(2)
  expect(await idsOf(log, tenantId)).toEqual([1, 2])
})

test('processes that tell the same at once tell it once, and leave no holes', async () => {
  const file = join(tempDir(), 'ganglion.db')
  const database = await testDatabase(file)
  const tenantId = await withTenant(database)
  const log = new EventLog(database.db)
  await log.begin(kbId, { main: '0', queue: undefined })
  const moduleUrl = (name: string) => JSON.stringify(new URL(`../../src/state/${name}.ts`, import.meta.url).href)
  const script = `
    const { openDatabase } = await import(${moduleUrl('database/open-database')})
    const { EventLog } = await import(${moduleUrl('event-store')})
    const [file, id, tenantId] = process.argv.slice(1)
    const { db, close } = await openDatabase(file)
    const log = new EventLog(db)
    const heads = (n) => ({ main: String(n), queue: undefined })
    for (let n = 0; n < 40; n++) {
      const event = { kbId: id, kind: 'kb.pushed', isCuratorOnly: false, data: { commit: String(n) } }
      await log.logChanges({ id, tenantId }, heads(n), heads(n + 1), [event, event], new Date())
      await log.append(tenantId, [{ ...event, data: {} }], new Date())
    }
    await close()`
  const args = ['--input-type=module', '-e', script, file, kbId, tenantId]
  for (const run of await Promise.all([1, 2, 3].map(() => runNode(args)))) {
    expect(run).toMatchObject({ code: 0, stderr: '' })
  }
  const events = await log.after(tenantId, 0, 1_000)
  expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
  const told = events.flatMap(({ data: { commit } }) => commit ?? [])
  expect(told).toEqual(Array.from({ length: 80 }, (_, index) => String(Math.floor(index / 2))))
})
