import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { DatabaseTooNew, DatabaseUnreachable } from '../../../src/state/database/database-errors.ts'
import { problemOfAddress } from '../../../src/state/database/engines/postgres-address.ts'
import { migrations } from '../../../src/state/database/migrations/migrations.ts'
import { openDatabase } from '../../../src/state/database/open-database.ts'
import { Tenants } from '../../../src/state/tenants.ts'
import { main } from '../../cli/support.ts'
import { newDatabase } from '../../support/new-database.ts'
import { startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'
import { numbers, openedNode, ownServer } from '../support/nodes.ts'

test('nodes that open an empty database at once all migrate it, and none loses a write', async () => {
  const server = await ownServer()
  const address = server.address('ganglion')
  await Promise.all(
    numbers(8).map(async (n) => {
      const { db } = await openedNode(address)
      await new Tenants(db).ensure(`own-${n}`, new Date())
      await new Tenants(db).ensure('shared', new Date())
    }),
  )
  const { db } = await openedNode(address)
  expect(await new Tenants(db).list()).toHaveLength(9)
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(migrations))
})

test('a database of a newer version is refused, without its password', async () => {
  const address = await newDatabase()
  const { db } = await openedNode(address)
  await sql`insert into kysely_migration values ('9999-future', '2026-01-01T00:00:00.000Z')`.execute(db)
  const withPassword = address.replace('ganglion@', 'ganglion:hunter2@')
  const error = await openDatabase(withPassword).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(DatabaseTooNew)
  expect(String(error)).toMatch(/newer version of Ganglion.*9999-future/)
  expect(String(error)).not.toContain('hunter2')
})

test('a server that cannot be reached is told as such, without the password', async () => {
  const error = await openDatabase('postgres://ganglion:hunter2@127.0.0.1:1/ganglion').catch((error: unknown) => error)
  expect(error).toBeInstanceOf(DatabaseUnreachable)
  expect(String(error)).toMatch(/cannot be reached: .*ECONNREFUSED/)
  expect(`${error} ${JSON.stringify(error)} ${Error.prototype.toString.call((error as Error).cause)}`).not.toContain(
    'hunter2',
  )
})

test('a database that is not there is told at once', async () => {
  const address = (await newDatabase()).replace(/test_\w+/, 'nowhere')
  await expect(openDatabase(address)).rejects.toThrow('database "nowhere" does not exist')
})

test.each(['session', 'transaction'] as const)(
  'a pooler in session mode works, one in transaction mode is refused: %s',
  async (mode) => {
    const server = await ownServer()
    const pooled = await server.pooler(mode)
    const opened = openDatabase(pooled)
    if (mode === 'transaction') {
      await expect(opened).rejects.toThrow('behind a pooler in transaction mode: set pool_mode = session')
      return
    }
    const { db, close } = await opened
    onTestFinished(close)
    expect((await sql`show lock_timeout`.execute(db)).rows).toEqual([{ lock_timeout: '5s' }])
  },
)

test('a node that starts while the database is away waits for it', async () => {
  const server = await ownServer({ durable: true })
  await server.stop()
  const env = { GANGLION_DATABASE: server.address('ganglion'), GANGLION_PORT: '0' }
  const child = startNode([main, 'serve', '--data', join(tempDir(), 'data'), '--json'], { env })
  const told = createInterface(child.stderr ?? process.stdin)
  const [line] = await once(told, 'line')
  expect(line).toMatch(/The database cannot be reached: .*The start waits for it\.$/)
  await server.begin()
  const [ready] = await once(createInterface(child.stdout ?? process.stdin), 'line')
  expect(JSON.parse(String(ready))).toMatchObject({ url: expect.stringMatching(/^http/) })
})

test('a database of another encoding is refused', async () => {
  const server = await ownServer()
  await server.run("create database latin template template0 encoding 'LATIN1' locale 'C' locale_provider libc")
  await expect(openDatabase(server.address('latin'))).rejects.toThrow('must have the encoding UTF8')
})

test.each([
  ['postgres://db.example.org/ganglion', undefined],
  ['postgresql://u:p@db.example.org:5433/ganglion?sslmode=verify-full&sslrootcert=/etc/ca.pem', undefined],
  ['postgres://ganglion@localhost/ganglion?host=/run/postgresql', undefined],
  ['postgres://u:hunter2@db.example.org', /must be like/],
  ['mysql://u:hunter2@db.example.org/ganglion', /must be like/],
  ['postgres://u:hunter2@[/ganglion', /must be like/],
  ['postgres://u:hunter2@db.example.org/ganglion?sslmode=prefer', /sslmode must be one of disable, require/],
])('the address %s', (address, problem) => {
  const found = problemOfAddress(address)
  if (problem === undefined) expect(found).toBeUndefined()
  else expect(found).toMatch(problem)
  expect(found ?? '').not.toContain('hunter2')
})

test('text is compared by its bytes, whatever the locale of the database, and counts are numbers', async () => {
  const { db } = await openedNode(await newDatabase())
  // By the locale, case and punctuation come after letters.
  const { rows } = await sql<{ first: string }>`select min(x) as first from (values ('a'), ('B')) as v(x)`.execute(db)
  expect(rows).toEqual([{ first: 'a' }])
  const tenants = new Tenants(db)
  const slugs = ['b', 'B', 'a_b', 'a-b', 'ab', 'é', '\u{1F600}', '\u{FFFD}']
  for (const slug of slugs) await tenants.ensure(slug, new Date())
  const byBytes = slugs.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  expect((await tenants.list()).map(({ slug }) => slug)).toEqual(byBytes)
  const count = await db
    .selectFrom('tenants')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirst()
  expect(count).toEqual({ n: slugs.length })
})

test('a NUL is in no text: nothing is found by one', async () => {
  const { db } = await openedNode(await newDatabase())
  await new Tenants(db).ensure('acme', new Date())
  expect(await new Tenants(db).find('acme\0')).toBeUndefined()
})

test('the time is that of the server', async () => {
  const { db, now } = await openedNode(await newDatabase())
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db)
  expect(Math.abs(now().getTime() - (rows[0]?.at.getTime() ?? 0))).toBeLessThan(5_000)
})
