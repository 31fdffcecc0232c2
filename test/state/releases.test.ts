import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { expect, onTestFinished, test } from 'vitest'
import { asKyselyDatabase } from '../../src/state/database/engines/sqlite.ts'
import { migrations } from '../../src/state/database/migrations/migrations.ts'
import { openDatabase } from '../../src/state/database/open-database.ts'
import { tempDir } from '../support/temp.ts'
import { earlierMigrations } from './releases/earlier-migrations.ts'

const releases = fileURLToPath(new URL('releases', import.meta.url))
const all = { ...earlierMigrations, ...migrations, ...earlierMigrations }

/** A database as the migrations up to one leave it. */
async function databaseAt(name: string): Promise<string> {
  const file = join(tempDir(), 'ganglion.db')
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: asKyselyDatabase(new DatabaseSync(file)) }) })
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => all } }).migrateTo(name)
  await db.destroy()
  if (error !== undefined) throw error
  return file
}

/** Columns, keys and indexes of all tables, in no order. */
function schemaOf(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true })
  onTestFinished(() => db.close())
  const tables = db.prepare(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name",
  )
  return tables.all().map(({ name }) => ({
    name,
    columns: db
      .prepare(`select name, type, "notnull", dflt_value, pk from pragma_table_info('${name}') order by name`)
      .all(),
    keys: db
      .prepare(`select "table", "from", "to", on_delete from pragma_foreign_key_list('${name}') order by "from"`)
      .all(),
    indexes: db
      .prepare(`select name, "unique", partial from pragma_index_list('${name}') where origin = 'c' order by name`)
      .all()
      .map((index) => ({ ...index, of: db.prepare(`select name from pragma_index_info('${index.name}')`).all() })),
  }))
}

test.each(Object.keys(all))('a database of the migration %s gets the schema that a new one has', async (name) => {
  const file = await databaseAt(name)
  const fresh = join(tempDir(), 'fresh.db')
  for (const each of [file, fresh]) await (await openDatabase(each, () => {})).close()
  expect(schemaOf(file)).toEqual(schemaOf(fresh))
})

test('keys of an old database keep their answers and what they could fetch', async () => {
  const file = await databaseAt('0010-owners-of-uploads-and-chats')
  const sqlite = new DatabaseSync(file)
  sqlite.exec(`
    insert into tenants values ('t', 'acme', '');
    insert into api_keys (id, tenant_id, name, role, hash, connectors, created_at) values ('1', 't', '', 'app', '', '[]', '');
    insert into idempotency_keys values ('t', '1', 'once', 'POST /', 'abc', 'first', 201, '{}', '2026-01-01T00:00:00.000Z')`)
  sqlite.close()
  const { db, close } = await openDatabase(file, () => {})
  onTestFinished(close)
  const { rows } = await sql`select caller_id, git from idempotency_keys, api_keys`.execute(db)
  expect(rows).toEqual([{ caller_id: 'key:1', git: 'main' }])
})

test('a migration that has landed never changes', async () => {
  const digests: Record<string, string> = {}
  for (const name of Object.keys(all)) {
    const schema = JSON.stringify(schemaOf(await databaseAt(name)))
    digests[name] = createHash('sha256').update(schema).digest('hex').slice(0, 16)
  }
  await expect(`${JSON.stringify(digests, undefined, 2)}\n`).toMatchFileSnapshot(join(releases, 'migrations.json'))
})

type Table = { name: string; columns: { name: string; notnull: number; dflt_value: unknown }[] }

test('nodes of 0.1.0 go on beside newer ones: later migrations only add what they need not fill', async () => {
  const file = await databaseAt('0032-notices')
  const old = schemaOf(file) as Table[]
  await (await openDatabase(file, () => {})).close()
  const now = schemaOf(file) as Table[]
  for (const table of old) {
    const columns = now.find((one) => one.name === table.name)?.columns ?? []
    expect(columns).toEqual(expect.arrayContaining(table.columns))
    const added = columns.filter((column) => !table.columns.some((one) => one.name === column.name))
    expect(added.filter(({ notnull, dflt_value }) => notnull === 1 && dflt_value === null)).toEqual([])
  }
})
