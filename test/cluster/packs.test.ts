import { readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { packPath } from '../../src/git/objects/pack-files.ts'
import { consolidateShared, sweepPacks } from '../../src/kb/cluster/cluster.ts'
import { PackCache } from '../../src/kb/cluster/pack-cache.ts'
import { main, put, type Writer } from '../git/support/ref-store-suite.ts'
import { clusterBed, commitsOf, expectSound, kbId } from './support/cluster-bed.ts'

const hour = 60 * 60_000
const paths = Array.from({ length: 30 }, (_, n) => `${n}.md`)

async function written(bed: Awaited<ReturnType<typeof clusterBed>>): Promise<Writer> {
  const writer = await bed.writer()
  for (const path of paths) await commitsOf(writer).run((staging) => put(staging, main, path))
  return writer
}

function consolidated(bed: Awaited<ReturnType<typeof clusterBed>>, { repository }: Writer, now = new Date()) {
  return consolidateShared(bed, { kbId, gitDir: repository.gitDir, now }, AbortSignal.timeout(60_000))
}

const packsIn = ({ repository }: Writer) =>
  readdirSync(join(repository.gitDir, 'objects/pack')).filter((name) => name.endsWith('.pack')).length

test('many packs become one, which every node takes over', async () => {
  const bed = await clusterBed()
  const writer = await written(bed)
  const other = await bed.writer()
  await other.store.readHeads()
  await consolidated(bed, writer)
  expect((await bed.repositories.state(kbId)).packs).toHaveLength(1)
  await commitsOf(other).run((staging) => put(staging, main, 'after.md'))
  await commitsOf(writer).run((staging) => put(staging, main, 'last.md'))
  await expectSound(bed, [...paths, 'after.md', 'last.md'])
})

test('few packs are left alone', async () => {
  const bed = await clusterBed()
  const writer = await bed.writer()
  for (const path of ['a.md', 'b.md']) await commitsOf(writer).run((staging) => put(staging, main, path))
  const before = await bed.repositories.state(kbId)
  await consolidated(bed, writer)
  expect(await bed.repositories.state(kbId)).toEqual(before)
})

test('of two nodes that roll up the same packs, one does', async () => {
  const bed = await clusterBed()
  const [one, other] = [await written(bed), await bed.writer()]
  await Promise.all([one, other].map((writer) => consolidated(bed, writer)))
  expect((await bed.repositories.state(kbId)).packs).toHaveLength(1)
  await expectSound(bed, paths)
})

test('what is written while packs are rolled up stays', async () => {
  const bed = await clusterBed()
  const [writer, other] = [await written(bed), await bed.writer()]
  const more = ['x.md', 'y.md', 'z.md']
  const writing = async () => {
    for (const path of more) await commitsOf(writer).run((staging) => put(staging, main, path))
  }
  await Promise.all([consolidated(bed, other), writing()])
  await expectSound(bed, [...paths, ...more])
})

test('a node drops the packs that were rolled up an hour later', async () => {
  const bed = await clusterBed()
  const writer = await written(bed)
  await consolidated(bed, writer)
  await consolidated(bed, writer)
  expect(packsIn(writer)).toBe(31)
  const folder = join(writer.repository.gitDir, 'objects/pack')
  const old = new Date(Date.now() - hour - 1000)
  for (const name of readdirSync(folder)) if (name.endsWith('.keep')) utimesSync(join(folder, name), old, old)
  await consolidated(bed, writer)
  expect(packsIn(writer)).toBe(1)
  await commitsOf(writer).run((staging) => put(staging, main, 'after.md'))
  await expectSound(bed, [...paths, 'after.md'])
})

test('a pack that somebody else drops from the copy at the same time is dropped', async () => {
  const bed = await clusterBed()
  const writer = await written(bed)
  const { gitDir } = writer.repository
  class Meanwhile extends Set<string> {
    override has(name: string): boolean {
      rmSync(`${packPath(gitDir, name)}.keep`)
      return false
    }
  }
  await new PackCache(gitDir, bed.packs).dropAllBut(new Meanwhile())
})

test('the sweep removes packs an hour after they were rolled up, and orphans after a day', async () => {
  const bed = await clusterBed()
  const writer = await written(bed)
  const now = Date.now()
  await consolidated(bed, writer, new Date(now))
  const named = bed.s3.objects.get([...bed.s3.objects.keys()].at(-1) ?? '')
  const [orphan, young] = [{ ...(named ?? expect.unreachable()) }, { ...(named ?? expect.unreachable()) }]
  bed.s3.objects.set(`${bed.s3.options.prefix}${kbId}/orphan.pack`, { ...orphan, storedAt: new Date(now - 25 * hour) })
  bed.s3.objects.set(`${bed.s3.options.prefix}${kbId}/young.pack`, young)
  if (named !== undefined) named.storedAt = new Date(now - 25 * hour)
  expect(await sweepPacks(bed, new Date(now + hour / 2))).toBe(1)
  expect(bed.s3.objects.size).toBe(paths.length + 2)
  expect(await sweepPacks(bed, new Date(now + hour + 1000))).toBe(paths.length)
  expect(await sweepPacks(bed, new Date(now + hour + 1000))).toBe(0)
  expect([...bed.s3.objects.keys()].some((key) => key.endsWith('young.pack'))).toBe(true)
  await expectSound(bed, paths)
})

test('a pack that was put long ago is not named any more, since the sweep may be at it', async () => {
  const bed = await clusterBed()
  onTestFinished(() => void vi.restoreAllMocks())
  const writer = await bed.writer({
    packs: (packs) => ({
      put: async (key, file) => {
        await packs.put(key, file)
        const late = Date.now() + 2 * hour
        vi.spyOn(Date, 'now').mockImplementation(() => late)
      },
    }),
  })
  const late = commitsOf(writer).run((staging) => put(staging, main, 'late.md'))
  await expect(late).rejects.toThrow('a pack was put too long ago to be named')
  expect((await bed.repositories.state(kbId)).packs).toEqual([])
})
