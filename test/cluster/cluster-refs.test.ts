import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { GitError } from '../../src/git/git-error.ts'
import { Staging } from '../../src/git/staging.ts'
import { ConnectionLost, DatabaseUnreachable } from '../../src/state/database/database-errors.ts'
import { S3Error } from '../../src/state/s3/s3-bucket.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { fsck, main, pathsOf, prepared, put, queue, testRefStore, type Writer } from '../git/support/ref-store-suite.ts'
import { clusterBed, commitsOf, expectSound, type Faults } from './support/cluster-bed.ts'

testRefStore('a cluster', clusterBed)

const lost = () => new ConnectionLost(new Error('cut'))

/** Packs under names that git finds, and files under names that it does not. */
function packFolder({ repository }: Writer): string[] {
  return readdirSync(join(repository.gitDir, 'objects/pack')).map((name) => name.replace(/[0-9a-f]{12,}/g, '…'))
}

const deaths: Record<string, Faults> = {
  'before its pack is in the store': { packs: () => ({ put: () => Promise.reject(new Error('dead')) }) },
  'between the store and the database': { rows: () => ({ publish: () => Promise.reject(new Error('dead')) }) },
  'before the commit': {
    rows: (rows) => ({
      publish: (id, change) =>
        rows.publish(id, {
          ...change,
          check: () => {
            throw new Error('dead')
          },
        }),
    }),
  },
}
for (const [when, faults] of Object.entries(deaths)) {
  test(`a writer that dies ${when} has done nothing`, async () => {
    const bed = await clusterBed()
    const before = await bed.writer()
    await commitsOf(before).run((staging) => put(staging, main, 'before.md'))
    const dying = bed.open(before.repository.gitDir, faults)
    await expect(commitsOf(dying).run((staging) => put(staging, main, 'dead.md'))).rejects.toThrow('dead')
    await expectSound(bed, ['before.md'])
    await commitsOf(before).run((staging) => put(staging, main, 'after.md'))
    await expectSound(bed, ['before.md', 'after.md'])
    expect(packFolder(before).filter((name) => name.includes('tmp'))).toEqual([])
  })
}

test('a writer that dies after the commit, before its copy has the pack, has done all', async () => {
  const bed = await clusterBed()
  const dying = await bed.writer({
    rows: (rows) => ({
      publish: async (id, change) => {
        await rows.publish(id, change)
        throw new Error('dead')
      },
    }),
  })
  await expect(commitsOf(dying).run((staging) => put(staging, main, 'a.md'))).rejects.toThrow('dead')
  await expectSound(bed, ['a.md'])
  const again = bed.open(dying.repository.gitDir)
  await commitsOf(again).run((staging) => put(staging, main, 'b.md'))
  await expectSound(bed, ['a.md', 'b.md'])
})

test('a commit whose answer was lost is found done, and not done twice', async () => {
  const bed = await clusterBed()
  let cuts = 1
  const writer = await bed.writer({
    rows: (rows) => ({
      publish: async (id, change) => {
        const version = await rows.publish(id, change)
        if (cuts-- > 0) throw lost()
        return version
      },
    }),
  })
  const commits = commitsOf(writer)
  await Promise.all(['a.md', 'b.md'].map((path) => commits.run((staging) => put(staging, main, path))))
  expect(cuts).toBeLessThan(1)
  await expectSound(bed, ['a.md', 'b.md'])
})

test('a commit that was lost with its connection is made again', async () => {
  const bed = await clusterBed()
  let cuts = 2
  const writer = await bed.writer({
    rows: (rows) => ({
      publish: (id, change) => (cuts-- > 0 ? Promise.reject(lost()) : rows.publish(id, change)),
    }),
  })
  await commitsOf(writer).run((staging) => put(staging, main, 'a.md'))
  await expectSound(bed, ['a.md'])
})

test('what became of a commit is asked until the database answers', async () => {
  const bed = await clusterBed()
  let away = 2
  const writer = await bed.writer({
    rows: (rows) => ({
      publish: async (id, change) => {
        await rows.publish(id, change)
        throw lost()
      },
      isNamed: (id, key) => (away-- > 0 ? Promise.reject(new DatabaseUnreachable(new Error())) : rows.isNamed(id, key)),
    }),
  })
  await commitsOf(writer).run((staging) => put(staging, main, 'a.md'))
  await expectSound(bed, ['a.md'])
})

test('a writer that cannot learn what became of its commit says neither that it failed nor that it is done', async () => {
  const bed = await clusterBed()
  const gone = () => Promise.reject(new DatabaseUnreachable(new Error()))
  const writer = await bed.writer({ rows: () => ({ publish: () => Promise.reject(lost()), isNamed: gone }) })
  const publishing = writer.store.publish(await prepared(writer, [main], 'a.md'))
  await expect(publishing).rejects.toThrow(
    new GitError('unknown-outcome', 'the database did not say whether it made a commit'),
  )
})

test('objects that came with a push to one machine reach the others with the commit that needs them', async () => {
  const bed = await clusterBed()
  const one = await bed.writer()
  await commitsOf(one).run((staging) => put(staging, main, 'first.md'))
  // As native git leaves what it received: a pack that no ref names, on this machine alone.
  const pushed = new Staging(one.repository, await one.store.readHeads())
  const blob = pushed.putBlob('pushed')
  const to = await pushed.commit(main, {
    changes: new Map([['folder/pushed.md', { oid: blob }]]),
    message: 'Push',
    author: { name: 'Eve', email: 'eve@example.com', at: new Date(0) },
    committer: { name: 'Eve', email: 'eve@example.com', at: new Date(0) },
  })
  await (await one.repository.writeObjects(pushed.objects))()
  await commitsOf(one).run(async (staging) => {
    const author = { name: 'Ada', email: 'ada@example.com', at: new Date(0) }
    const changes = new Map([['folder/pushed.md', { oid: blob }]])
    await staging.commit(main, { changes, message: 'Merge', author, committer: author, mergeParent: to })
  })
  const other = await bed.writer()
  await other.store.readHeads()
  expect(pathsOf(other, main)).toEqual(['first.md', 'folder/pushed.md'])
  expect(fsck(other)).toBe('')
  // What the store has is not put again when a commit names it.
  const third = await bed.writer()
  await commitsOf(third).run(async (staging) => {
    const author = { name: 'Ada', email: 'ada@example.com', at: new Date(0) }
    const changes = new Map([['again.md', { oid: blob }]])
    await staging.commit(main, { changes, message: 'Copy', author, committer: author })
  })
  expect([...bed.s3.objects.values()].at(-1)?.bytes.readUInt32BE(8)).toBe(2) // objects: a folder and a commit
  await other.store.readHeads()
  expect(nativeGit(other.repository.gitDir, ['cat-file', '-p', 'main:again.md'])).toBe('pushed')
})

test('a pack that is damaged in the store is refused, and nothing of it is shown', async () => {
  const bed = await clusterBed()
  const one = await bed.writer()
  await commitsOf(one).run((staging) => put(staging, main, 'a.md'))
  for (const object of bed.s3.objects.values()) {
    object.bytes = Buffer.from(object.bytes)
    object.bytes.writeUInt8((object.bytes[20] ?? 0) ^ 1, 20)
  }
  const other = await bed.writer()
  await expect(other.store.readHeads()).rejects.toThrow('a pack does not have the checksum that it says')
  expect(packFolder(other)).toEqual([])
})

test('packs that are replaced and gone while a machine fetches them are found under their new names', async () => {
  const bed = await clusterBed()
  const one = await bed.writer()
  await commitsOf(one).run((staging) => put(staging, main, 'a.md'))
  let isMoved = false
  const other = await bed.writer({
    packs: (packs) => ({
      get: async (key, size) => {
        if (!isMoved) {
          isMoved = true
          for (const [old, object] of [...bed.s3.objects]) {
            bed.s3.objects.delete(old)
            bed.s3.objects.set(`${old}.new`, object)
          }
          const { key: before } = await bed.db.selectFrom('repository_packs').select('key').executeTakeFirstOrThrow()
          await bed.db
            .updateTable('repository_packs')
            .set({ key: `${before}.new` })
            .execute()
        }
        return packs.get(key, size)
      },
    }),
  })
  await other.store.readHeads()
  expect(pathsOf(other, main)).toEqual(['a.md'])
})

test('without the store reads go on from the copy, and writes fail until it is back', async () => {
  const bed = await clusterBed()
  let isGone = false
  const gone = () => Promise.reject(new S3Error('cannot be reached'))
  const writer = await bed.writer({
    packs: (packs) => ({
      put: (key, file) => (isGone ? gone() : packs.put(key, file)),
      get: (key, size) => (isGone ? gone() : packs.get(key, size)),
    }),
  })
  await commitsOf(writer).run((staging) => put(staging, main, 'a.md'))
  isGone = true
  await expect(commitsOf(writer).run((staging) => put(staging, main, 'b.md'))).rejects.toThrow(S3Error)
  expect((await writer.store.readHeads()).get(main)).toBeDefined()
  expect(pathsOf(writer, main)).toEqual(['a.md'])
  isGone = false
  await commitsOf(writer).run((staging) => put(staging, main, 'c.md'))
  await expectSound(bed, ['a.md', 'c.md'])
})

test('native git packs nothing anew that the store has', async () => {
  const bed = await clusterBed()
  const one = await bed.writer()
  for (const path of ['a.md', 'b.md', 'c.md']) await commitsOf(one).run((staging) => put(staging, main, path))
  const before = packFolder(one).length
  nativeGit(one.repository.gitDir, ['repack', '-d', '--geometric=2', '-q'])
  nativeGit(one.repository.gitDir, ['repack', '-d', '--cruft', '-q'])
  expect(packFolder(one)).toHaveLength(before)
  expect(fsck(one)).toBe('')
})

test('a copy that was made of something else is brought to the rows', async () => {
  const bed = await clusterBed()
  const one = await bed.writer()
  await commitsOf(one).run((staging) => put(staging, main, 'a.md'))
  const other = await bed.writer()
  writeFileSync(join(other.repository.gitDir, 'packed-refs'), `${'1'.repeat(40)} ${queue}\n${'2'.repeat(40)} ${main}\n`)
  const heads = await other.store.readHeads()
  expect([heads.get(queue), await other.repository.readRef(queue)]).toEqual([undefined, undefined])
  expect(await other.repository.readRef(main)).toBe(heads.get(main))
})

test('what was prepared beside a ref that has moved since is not published, although it leaves that ref as it is', async () => {
  const bed = await clusterBed()
  const [one, other] = [await bed.writer(), await bed.writer()]
  await one.store.publish(await prepared(one, [queue, main], 'a.md'))
  const approval = await prepared(one, [main], 'approved.md')
  expect((await other.store.publish(await prepared(other, [queue], 'dismissed.md'))).size).toBe(1)
  expect((await one.store.publish(approval)).size).toBe(0)
  expect((await one.store.publish(await prepared(one, [main], 'again.md'))).size).toBe(1)
  expect(pathsOf(one, main)).toEqual(['a.md', 'again.md'])
})

test('a writer takes a turn to write, and none to follow', async () => {
  const bed = await clusterBed()
  let turns = 0
  const [one, other] = [await bed.writer({ onTurn: () => turns++ }), await bed.writer()]
  const commits = commitsOf(one)
  await commits.run((staging) => put(staging, main, 'a.md'))
  expect(turns).toBe(1)
  await delay(100) // it has given its turn back
  await commitsOf(other).run((theirs) => put(theirs, main, 'b.md'))
  await commits.follow()
  expect(turns).toBe(1)
  await commits.run((staging) => put(staging, main, 'c.md'))
  expect(turns).toBe(2)
  await expectSound(bed, ['a.md', 'b.md', 'c.md'])
})
