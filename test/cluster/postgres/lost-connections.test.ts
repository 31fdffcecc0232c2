import { sql, type Transaction } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { refusalFor } from '../../../src/kb/failure.ts'
import { Health } from '../../../src/operate/health.ts'
import { ConnectionLost, DatabaseUnreachable } from '../../../src/state/database/database-errors.ts'
import type { Schema } from '../../../src/state/database/schema.ts'
import { inTransaction } from '../../../src/state/database/transaction.ts'
import { Tenants } from '../../../src/state/tenants.ts'
import { newDatabase } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { numbers, openedNode, ownServer } from '../support/nodes.ts'

test('after a restart of the server, a node goes on', async () => {
  const server = await ownServer({ durable: true })
  const { db } = await openedNode(server.address('ganglion'))
  const tenants = new Tenants(db)
  // As many connections as there may be.
  await Promise.all(numbers(20).map((n) => tenants.ensure(`t${n}`, new Date())))
  for (const how of ['fast', 'kill'] as const) {
    await server.stop(how)
    const [asked, made] = [tenants.list(), tenants.ensure(how, new Date())]
    await server.begin()
    expect(await asked).toEqual(expect.arrayContaining([expect.objectContaining({ slug: 't19' })]))
    expect(await made).toMatchObject({ slug: how })
  }
  expect(await tenants.list()).toHaveLength(22)
})

test('while the server is away, requests are told that the database cannot be reached', async () => {
  const server = await ownServer()
  const { db } = await openedNode(server.address('ganglion'))
  const ctx = await openContext({ dataDir: tempDir(), database: server.address('ganglion'), threads })
  onTestFinished(() => ctx.close())
  expect(await new Health(ctx).problems()).toEqual([])
  expect(await ctx.database.size()).toBeGreaterThan(1_000_000)
  await server.stop()
  expect(await new Health(ctx).problems()).toEqual([{ part: 'database', reason: 'the database cannot be reached' }])
  const error = await new Tenants(db).list().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(DatabaseUnreachable)
  expect(refusalFor(error)).toMatchObject({ status: 503, message: 'The database of the server cannot be reached.' })
})

test('a SELECT whose connection is lost is asked again, and a write is not', async () => {
  const { db } = await openedNode(await newDatabase())
  await new Tenants(db).ensure('acme', new Date())
  const killer = (query: string) =>
    db
      .selectFrom('tenants')
      .select(['slug', sql`pg_terminate_backend(pid)`.as('killed')])
      .innerJoin(sql<{ pid: number; query: string }>`pg_stat_activity`.as('activity'), (join) => join.onTrue())
      .where('query', 'like', `%${query}%`)
  const sleep = (seconds: number) => sql<string>`pg_sleep(${seconds})::text`.as('slept')
  const reading = db
    .selectFrom('tenants')
    .select(['slug', sleep(0.5)])
    .where('slug', '!=', 'reading')
    .execute()
  const writing = db
    .updateTable('tenants')
    .set({ created_at: sql`pg_sleep(0.5)::text` })
    .where('slug', '!=', 'writing')
    .execute()
  const failed = expect(writing).rejects.toThrow(ConnectionLost)
  await expect.poll(() => killer('set "created_at" = pg_sleep').execute()).not.toEqual([])
  await failed
  await killer('as "slept" from "tenants" where "slug"').execute()
  expect(await reading).toEqual([{ slug: 'acme', slept: '' }])
})

test('a SELECT that loses its connection to a server that goes is told so', async () => {
  const server = await ownServer()
  const { db } = await openedNode(server.address('ganglion'))
  const reading = db.selectNoFrom(sql<string>`pg_sleep(20)::text`.as('slept')).execute()
  const failed = expect(reading).rejects.toThrow(DatabaseUnreachable)
  await expect
    .poll(() => server.run("select 1 from pg_stat_activity where query like 'select pg_sleep%'"))
    .toHaveLength(1)
  await server.stop()
  await failed
})

test('a transaction that loses its connection before the commit is done again; one that loses it at the commit is not', async () => {
  const { db } = await openedNode(await newDatabase())
  const killSelf = sql`select pg_terminate_backend(pg_backend_pid())`
  let attempts = 0
  await inTransaction(db, async (transaction) => {
    attempts += 1
    await transaction.insertInto('tenants').values({ id: 'a', slug: 'a', created_at: '' }).execute()
    if (attempts === 1) await killSelf.execute(transaction)
  })
  expect(attempts).toBe(2)
  expect(await new Tenants(db).list()).toMatchObject([{ id: 'a' }])

  await sql`create function die() returns trigger language plpgsql as
    $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`.execute(db)
  await sql`create constraint trigger at_commit after insert on tenants deferrable initially deferred
    for each row execute function die()`.execute(db)
  attempts = 0
  const work = inTransaction(db, async (transaction) => {
    attempts += 1
    await transaction.insertInto('tenants').values({ id: 'b', slug: 'b', created_at: '' }).execute()
  })
  await expect(work).rejects.toThrow(ConnectionLost)
  expect(attempts).toBe(1)
})

test('a statement that waits for a lock for too long is given up, and the caller may try again', async () => {
  const { db } = await openedNode(await newDatabase())
  await new Tenants(db).ensure('acme', new Date())
  const change = (transaction: Transaction<Schema>) =>
    transaction.updateTable('tenants').set({ created_at: 'now' }).execute()
  const error = await inTransaction(db, async (holder) => {
    await change(holder)
    return inTransaction(db, async (waiter) => {
      await sql`set local lock_timeout = '50ms'`.execute(waiter)
      await change(waiter)
    }).catch((error: unknown) => error)
  })
  expect(refusalFor(error)).toMatchObject({ status: 503 })
})
