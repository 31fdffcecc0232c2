import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { DatabaseTooNew } from '../../src/state/database/database-errors.ts'
import { openDatabase } from '../../src/state/database/open-database.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { runNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'
import { at, testDatabase } from './support.ts'

const databaseModule = new URL('../../src/state/database/open-database.ts', import.meta.url).href
const sqliteModule = new URL('../../src/state/database/engines/sqlite.ts', import.meta.url).href
const tenantsModule = new URL('../../src/state/tenants.ts', import.meta.url).href

test('the database flushes every commit and enforces its references', async () => {
  const { db } = await testDatabase()
  expect((await sql`pragma journal_mode`.execute(db)).rows).toEqual([{ journal_mode: 'wal' }])
  expect((await sql`pragma synchronous`.execute(db)).rows).toEqual([{ synchronous: 2 }])
  expect((await sql`pragma foreign_keys`.execute(db)).rows).toEqual([{ foreign_keys: 1 }])
  await expect(
    db
      .insertInto('knowledge_bases')
      .values({ id: 'a', tenant_id: 'nobody', slug: 's', prefix: 's', created_at: '' })
      .execute(),
  ).rejects.toThrow('FOREIGN KEY')
})

test('only the owner can read the database', async () => {
  const file = join(tempDir(), 'ganglion.db')
  await testDatabase(file)
  for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(name).mode & 0o777).toBe(0o600)
})

test('SQLite makes its temporary files where what a crash leaves is removed', async () => {
  const folder = tempDir()
  const script = `
    const { DatabaseSync } = await import('node:sqlite')
    const { watch } = await import('node:fs')
    const { keepTemporaryFilesIn } = await import(${JSON.stringify(sqliteModule)})
    const [folder] = process.argv.slice(1)
    keepTemporaryFilesIn(folder)
    const watcher = watch(folder, (_, name) => {
      process.stdout.write(name)
      process.exit()
    })
    const db = new DatabaseSync(folder + '.db')
    db.exec('create table t (a); create table numbers (n)')
    db.exec("insert into numbers select value from json_each('[' || trim(replace(hex(zeroblob(400)), '00', '0,'), ',') || ']')")
    db.exec("pragma cache_size = 10; insert into t select hex(randomblob(50)) from numbers, numbers; create index i on t(a)")
    setTimeout(() => watcher.close(), 5000)`
  const { stdout } = await runNode(['--input-type=module', '-e', script, folder])
  expect(stdout).toMatch(/^etilqs_/)
})

test('what was written is there when the database is opened again', async () => {
  const file = join(tempDir(), 'ganglion.db')
  const first = await openDatabase(file)
  const tenant = await new Tenants(first.db).ensure('acme', at('10:00'))
  await first.close()
  const second = await testDatabase(file)
  expect(await new Tenants(second.db).list()).toEqual([tenant])
})

test('a database of a newer version is refused and left as it is', async () => {
  const file = join(tempDir(), 'ganglion.db')
  await (await openDatabase(file)).close()
  const sqlite = new DatabaseSync(file)
  sqlite.exec("insert into kysely_migration (name, timestamp) values ('9999-future', '2026-01-01T00:00:00.000Z')")
  sqlite.close()
  await expect(openDatabase(file)).rejects.toThrow(DatabaseTooNew)
  await expect(openDatabase(file)).rejects.toThrow(/newer version of Ganglion.*9999-future/)
})

test('processes that open a new database at once all migrate, and none loses a write', async () => {
  const file = join(tempDir(), 'ganglion.db')
  const script = `
    const { openDatabase } = await import(${JSON.stringify(databaseModule)})
    const { Tenants } = await import(${JSON.stringify(tenantsModule)})
    const [file, name] = process.argv.slice(1)
    const { db, close } = await openDatabase(file)
    const tenants = new Tenants(db)
    for (let i = 0; i < 20; i++) await tenants.ensure(name + '-' + i, new Date())
    await tenants.ensure('shared', new Date())
    await close()`
  const runs = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((name) => runNode(['--input-type=module', '-e', script, file, name])),
  )
  for (const run of runs) expect(run).toMatchObject({ code: 0, stderr: '' })
  const { db } = await testDatabase(file)
  expect(await new Tenants(db).list()).toHaveLength(5 * 20 + 1)
})

test('a transaction that reads before it writes waits for another process instead of failing', async () => {
  const file = join(tempDir(), 'ganglion.db')
  const { db } = await testDatabase(file)
  await sql`create table counter (value integer)`.execute(db)
  await sql`insert into counter values (0)`.execute(db)
  const script = `
    const { openDatabase } = await import(${JSON.stringify(databaseModule)})
    const { db, close } = await openDatabase(process.argv[1])
    for (let i = 0; i < 50; i++) {
      await db.transaction().execute(async (transaction) => {
        const { value } = await transaction.selectFrom('counter').selectAll().executeTakeFirst()
        await transaction.updateTable('counter').set({ value: value + 1 }).execute()
      })
    }
    await close()`
  const runs = await Promise.all([1, 2, 3].map(() => runNode(['--input-type=module', '-e', script, file])))
  for (const run of runs) expect(run).toMatchObject({ code: 0, stderr: '' })
  expect((await sql`select value from counter`.execute(db)).rows).toEqual([{ value: 150 }])
})

test('a statement that is used again sees a new column and takes other values', async () => {
  const { db } = await testDatabase()
  const tenants = () => db.selectFrom('tenants').selectAll().orderBy('slug')
  for (const slug of ['a', 'b', 'c']) await new Tenants(db).ensure(slug, new Date())
  expect(await tenants().execute()).toHaveLength(3)
  await sql`alter table tenants add column motto text default 'Audax'`.execute(db)
  expect(await tenants().execute()).toEqual(Array(3).fill(expect.objectContaining({ motto: 'Audax' })))
  const find = (slug: string) => db.selectFrom('tenants').select('slug').where('slug', '=', slug).execute()
  expect([await find('a'), await find('b'), await find('x')]).toEqual([[{ slug: 'a' }], [{ slug: 'b' }], []])
})
