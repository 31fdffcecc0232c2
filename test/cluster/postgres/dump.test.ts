import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { Audit } from '../../../src/state/accounts/audit-store.ts'
import { loadPostgres } from '../../../src/state/database/engines/postgres-copy.ts'
import { openDatabase } from '../../../src/state/database/open-database.ts'
import { finishRestore } from '../../../src/state/database/restored-state.ts'
import { EventLog } from '../../../src/state/event-store.ts'
import { Webhooks } from '../../../src/state/webhooks.ts'
import { tempDir } from '../../support/temp.ts'
import { nodes, numbers, withKb } from '../support/nodes.ts'

test('a copy in SQLite, and a copy of that in PostgreSQL, have the same rows, and go on where they end', async () => {
  const [database] = await nodes(1)
  const tenantId = await withKb(database)
  const log = new EventLog(database.db)
  const event = { kbId: 'kb', kind: 'kb.pushed', isCuratorOnly: true, data: { commit: 'ü' } } as const
  await log.append(
    tenantId,
    numbers(1_200).map(() => event),
    new Date(),
  )
  const entry = { actor: { id: 'a', name: 'A' }, action: 'a.b', subject: 's', detail: '', address: null }
  const audit = new Audit(database.db)
  for (const _ of [1, 2]) await audit.record(tenantId, entry, new Date())
  await database.db.deleteFrom('audit').where('id', '=', 2).execute()
  await new Webhooks(database.db).create(
    { tenantId, kbId: 'kb', url: 'https://a.example', kinds: [], cursor: 2 },
    new Date(),
  )

  const file = join(tempDir(), 'copy.db')
  await database.copyTo(file)
  const [again] = await nodes(1)
  await finishRestore(again.db, (transaction) => loadPostgres(transaction, file))
  const copy = await openDatabase(file)
  onTestFinished(() => copy.close())
  const { rows } = await sql<{ name: string }>`select name from sqlite_schema where type = 'table'`.execute(copy.db)
  const names = rows.map(({ name }) => name).filter((name) => !/^(sqlite|kysely)_/.test(name))
  const rowsOf = async ({ db }: typeof copy, name: string) =>
    (await sql<object>`select * from ${sql.table(name)}`.execute(db)).rows
      .map((row) => JSON.stringify(Object.entries(row).sort()))
      .sort()
  expect(names.length).toBeGreaterThan(20)
  for (const name of names) {
    expect(await rowsOf(copy, name)).toEqual(await rowsOf(database, name))
    expect(await rowsOf(again, name)).toEqual(await rowsOf(database, name))
  }

  for (const { db } of [copy, again]) {
    const restored = new EventLog(db)
    await restored.append(tenantId, [event], new Date())
    expect(await restored.range(tenantId)).toEqual({ first: 1, last: 1_201 })
    await new Audit(db).record(tenantId, entry, new Date())
    expect((await new Audit(db).list(tenantId, { limit: 9 })).map(({ id }) => id)).toEqual([3, 1])
  }
})
