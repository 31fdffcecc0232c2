import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenContext, openContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { backup } from '../../../src/operate/backup/backup.ts'
import { restore } from '../../../src/operate/backup/restore.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { Database } from '../../../src/state/database/database.ts'
import { openDatabase } from '../../../src/state/database/open-database.ts'
import { isVacant } from '../../../src/state/database/restored-state.ts'
import { main } from '../../cli/support.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { eventually } from '../../support/eventually.ts'
import { environmentOf } from '../../support/new-database.ts'
import { startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { kinds, type Stores } from '../support/deployment.ts'
import { newNodes } from '../support/two-nodes.ts'

/** @param ref that is made beside main and the queue */
async function newBackup(ref?: string) {
  const ctx = await openContext({ ...(await kinds.single()), threads })
  onTestFinished(() => ctx.close())
  const { id: kbId, gitDir } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  if (ref !== undefined) nativeGit(gitDir, ['update-ref', ref, 'main'])
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'atlas' })
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version: '1.2.3' })
  return { dir, kbId }
}

async function databaseOf({ database = '' }: Stores): Promise<Database> {
  const opened = await openDatabase(database)
  onTestFinished(() => opened.close())
  return opened
}

/** Expects that nothing was begun: no row, no object, no folder. */
async function expectUntouched(
  stores: Stores & { s3?: { objects: ReadonlyMap<string, unknown> } },
  keys: string[] = [],
) {
  const { db } = await databaseOf(stores)
  expect(await isVacant(db)).toBe(true)
  expect(await db.selectFrom('stamps').selectAll().execute()).toEqual([])
  expect([...(stores.s3?.objects.keys() ?? [])]).toEqual(keys)
  expect(existsSync(`${stores.dataDir}.restoring`)).toBe(false)
}

async function expectRestored(stores: Stores) {
  const ctx = await openContext({ ...stores, threads })
  onTestFinished(() => ctx.close())
  const { ok, kbs } = await verify(ctx)
  expect(kbs.map(({ slug, problems }) => [slug, problems])).toEqual([
    ['atlas', []],
    ['handbook', []],
  ])
  expect(ok).toBe(true)
}

/** Rows are inserted once to see whether they can be: the next time fails. */
async function failSecondInsert({ db }: Pick<Database, 'db'>): Promise<void> {
  await sql`create sequence tries`.execute(db)
  await sql`create function fail() returns trigger language plpgsql as
    'begin if nextval(''tries'') > 1 then raise exception ''a second time''; end if; return null; end'`.execute(db)
  await sql`create trigger fail after insert on knowledge_bases execute function fail()`.execute(db)
}

test('a database that holds something is left as it is, and so are the bucket and the folder', async () => {
  const { dir } = await newBackup()
  const stores = await kinds.cluster()
  const { db } = await databaseOf(stores)
  await sql`insert into tenants (id, slug, created_at) values ('t', 'globex', '2026-01-01T00:00:00.000Z')`.execute(db)
  await expect(restore(dir, stores)).rejects.toThrow('The database is not empty')
  await sql`delete from tenants`.execute(db)
  await expectUntouched(stores)
})

test('a prefix that holds something is left as it is, also with the mark of another restore', async () => {
  const { dir } = await newBackup()
  const stores = await kinds.cluster()
  const key = `${stores.objects?.prefix}restoring-2026-01-01T00:00:00.000Z-00`
  stores.s3.objects.set(key, { bytes: Buffer.from('mine'), storedAt: new Date() })
  await expect(restore(dir, stores)).rejects.toThrow('s3://bucket/some where/ is not empty')
  await expectUntouched(stores, [key])
})

test('a folder that holds something is left as it is', async () => {
  const { dir } = await newBackup()
  const stores = await kinds.rows()
  mkdirSync(stores.dataDir)
  writeFileSync(join(stores.dataDir, 'letter'), 'mine')
  await expect(restore(dir, stores)).rejects.toThrow('is not empty')
  await expectUntouched(stores)
})

test.each(['rows', 'cluster'] as const)('of a damaged backup nothing reaches what is elsewhere (%s)', async (kind) => {
  const { dir, kbId } = await newBackup()
  truncateSync(join(dir, 'repos', `${kbId}.bundle`), 500)
  const stores = await kinds[kind]()
  await expect(restore(dir, stores)).rejects.toThrow('.bundle is not what was written')
  await expectUntouched(stores)
})

test('of a backup with a row that PostgreSQL does not take nothing reaches what is elsewhere', async () => {
  const { dir } = await newBackup()
  const file = new DatabaseSync(join(dir, 'ganglion.db'))
  file.exec("insert into tenants (id, slug, created_at) values (x'00ff', 'globex', '2026-01-01T00:00:00.000Z')")
  file.close()
  const stores = await kinds.cluster()
  await expect(restore(dir, stores)).rejects.toThrow()
  await expectUntouched(stores)
})

test('a restore into a cluster that is killed can be repeated', async () => {
  const { dir } = await newBackup()
  const stores = await kinds.cluster()
  const again = { ...stores, objects: { ...stores.s3.options, prefix: 'ganglion/' } } // no space, as in a URL
  const env = { ...environmentOf(again), GANGLION_DATA: stores.dataDir }
  const child = startNode([main, 'restore', dir], { env })
  const exit = once(child, 'exit')
  await eventually(() => expect(stores.s3.objects.size).toBeGreaterThan(0))
  child.kill('SIGKILL')
  expect(await exit).toEqual([null, 'SIGKILL'])
  await restore(dir, again)
  expect(existsSync(`${stores.dataDir}.restoring`)).toBe(false)
  await expectRestored(again)
})

test('refs that nodes do not share are named', async () => {
  const { dir, kbId } = await newBackup('refs/tags/old')
  const { kbs } = await restore(dir, await kinds.cluster())
  expect(kbs.map(({ id, warnings }) => [id, warnings])).toContainEqual([
    kbId,
    ['refs/tags/old has no place in a cluster'],
  ])
})

test('a backup of a cluster that has lost a pack says so, and is none', async () => {
  const stores = await kinds.cluster()
  await restore((await newBackup()).dir, stores)
  const [key = ''] = [...stores.s3.objects.keys()].filter((name) => name.endsWith('.pack'))
  stores.s3.objects.delete(key)
  const ctx = await openContext({ ...stores, threads })
  onTestFinished(() => ctx.close())
  const dir = join(tempDir(), 'backup')
  await expect(backup(ctx, dir, { version: '1.2.3' })).rejects.toThrow(
    /^The repository of \w+ cannot be copied whole. The pack .* is gone from the bucket.$/,
  )
  expect(existsSync(join(dir, 'manifest.json'))).toBe(false)
})

test('a backup of a cluster that is written to through two nodes is of one moment, and so is what verify sees', async () => {
  const { one, two, node, caller } = await newNodes()
  let isOver = false
  const write = async (ctx: OpenContext) => {
    while (!isOver) {
      const { candidateId } = await submitCandidate(ctx, caller, candidate())
      await approveCandidate(ctx, caller, candidateId, {})
    }
  }
  const writers = [write(one), write(two)]
  try {
    const third = await node()
    for (let round = 0; round < 3; round++) {
      const dir = join(tempDir(), 'backup')
      await backup(third, dir, { version: '1.2.3' })
      expect(readdirSync(third.directory.repositories)).toEqual([]) // no copy is left behind
      const stores = await kinds.single()
      await restore(dir, stores)
      const restored = await openContext({ ...stores, threads })
      onTestFinished(() => restored.close())
      for (const ctx of [restored, one]) {
        expect((await verify(ctx)).kbs.flatMap(({ problems }) => problems)).toEqual([])
      }
    }
  } finally {
    isOver = true
    await Promise.all(writers)
  }
})

test('a restore that the bucket cuts off is seen by no server, and can be repeated on another machine', async () => {
  const { dir } = await newBackup()
  const stores = await kinds.cluster()
  // A look at the prefix, the mark and the first pack, and then no more.
  stores.s3.failures.push(...Array.from({ length: 3 }, () => 0), ...Array.from({ length: 50 }, () => 403))
  await expect(restore(dir, stores)).rejects.toThrow('The bucket answered')
  expect(stores.s3.objects.size).toBeGreaterThan(0)
  await expect(openContext({ ...stores, dataDir: tempDir() })).rejects.toThrow('run "ganglion restore" again')

  stores.s3.failures.length = 0
  const again = { ...stores, dataDir: join(tempDir(), 'again') }
  await restore(dir, again)
  expect([...stores.s3.objects.keys()].filter((key) => key.includes('restoring'))).toEqual([])
  await expectRestored(again)
})

test.each(['rows', 'cluster'] as const)(
  'rows come all at once or not at all, and a repeated restore brings them (%s)',
  async (kind) => {
    const { dir } = await newBackup()
    const stores = await kinds[kind]()
    const { db } = await databaseOf(stores)
    await failSecondInsert({ db })
    await expect(restore(dir, stores)).rejects.toThrow('a second time')
    expect(await isVacant(db)).toBe(true)
    await expect(openContext(stores)).rejects.toThrow(
      /restore .*(?:is under way or )?was cut off.* again with the same backup/,
    )

    await sql`drop trigger fail on knowledge_bases`.execute(db)
    await restore(dir, stores)
    await expectRestored(stores)
  },
)

test('of two restores into one database only one goes on', async () => {
  const { dir } = await newBackup()
  const { database, dataDir } = await kinds.rows()
  const other = join(tempDir(), 'other')
  const done = await Promise.allSettled([
    restore(dir, { database, dataDir }),
    restore(dir, { database, dataDir: other }),
  ])
  expect(done.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  await expectRestored({ database, dataDir: existsSync(dataDir) ? dataDir : other })
})
