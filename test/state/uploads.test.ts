import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendToFile, FolderUploads } from '../../src/state/blobs/folder-uploads.ts'
import { ChunkDiffers } from '../../src/state/blobs/upload-bytes.ts'
import { KnowledgeBases } from '../../src/state/kb-store.ts'
import { TooManyUploads, Uploads } from '../../src/state/sources/upload-store.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { KeyedLock } from '../../src/system/concurrency/keyed-lock.ts'
import { fc, runs } from '../support/properties.ts'
import { tempDir } from '../support/temp.ts'
import { at, testDatabase } from './support.ts'

const day = (count: number) => new Date(at('10:00').getTime() + count * 24 * 60 * 60 * 1000)

async function newUploads() {
  const { db } = await testDatabase()
  const tenants = new Tenants(db)
  const { id: tenantId } = await tenants.ensure('acme', at('09:00'))
  const { id: rivalId } = await tenants.ensure('rival', at('09:00'))
  await new KnowledgeBases(db).create({ id: 'kb', tenantId, slug: 'kb', prefix: 'kb' }, at('09:00'))
  const uploads = new Uploads(db)
  const begin = (id: string, now = day(0), tenant = tenantId) =>
    uploads.begin(
      {
        ...{ id, tenantId: tenant, kbId: 'kb', filename: 'a.md', path: '/', metadata: null },
        ...{ fileSize: 9, contentHash: null, isForced: false, replaces: false, uploaderId: 'key:app' },
      },
      now,
    )
  return { uploads, tenantId, rivalId, begin }
}

test('an upload is there for its own tenant, and knows what has come', async () => {
  const { uploads, tenantId, rivalId, begin } = await newUploads()
  const begun = await begin('a')
  expect(begun).toMatchObject({ bytesReceived: 0, isFinalized: false, expiresAt: day(1).toISOString() })
  expect(await uploads.find(rivalId, 'a')).toBeUndefined()
  await uploads.setBytesReceived('a', 5, day(0))
  expect(await uploads.find(tenantId, 'a')).toEqual({ ...begun, bytesReceived: 5 })
  await uploads.finalize('a', day(0))
  expect((await uploads.find(tenantId, 'a'))?.isFinalized).toBe(true)
  await uploads.remove('a')
  expect(await uploads.find(tenantId, 'a')).toBeUndefined()
})

test('a tenant has ten open at most; what is finalized or has expired does not count', async () => {
  const { uploads, rivalId, begin } = await newUploads()
  const names = Array.from({ length: 12 }, (_, index) => `u${index}`)
  const results = await Promise.allSettled(names.map((id) => begin(id)))
  const open = names.filter((_, index) => results[index]?.status === 'fulfilled')
  expect(open).toHaveLength(10)
  await expect(begin('another')).rejects.toThrow(TooManyUploads)
  await begin('theirs', day(0), rivalId)
  await uploads.finalize(open[0] ?? '', day(0))
  await begin('after one')
  await expect(begin('too many')).rejects.toThrow(TooManyUploads)
  await begin('next day', day(1))
})

test('of ten that are open, the one that received nothing for longest, and for an hour, gives its place to another', async () => {
  const { uploads, tenantId, rivalId, begin } = await newUploads()
  const after = (minutes: number) => new Date(day(0).getTime() + minutes * 60_000)
  await begin('theirs', after(-60), rivalId)
  for (let index = 0; index < 10; index++) await begin(`u${index}`, after(index))
  await uploads.setBytesReceived('u0', 5, after(30))
  await expect(begin('early', after(60))).rejects.toThrow(TooManyUploads)
  await begin('v1', after(61))
  await begin('v2', after(62))
  await expect(begin('again', after(62))).rejects.toThrow(TooManyUploads)
  const open = async (id: string) => (await uploads.find(tenantId, id)) !== undefined
  const ids = ['u0', 'u1', 'u2', 'u3', 'v1', 'v2']
  expect(await Promise.all(ids.map(open))).toEqual([true, false, false, true, true, true])
  expect(await uploads.find(rivalId, 'theirs')).toBeDefined()
})

test('the bytes of an upload are wanted for a day, and the upload is known for a week more', async () => {
  const { uploads, tenantId, begin } = await newUploads()
  await begin('a')
  await begin('done')
  await uploads.finalize('done', day(0))
  expect(await uploads.isOpen('a', new Date(day(1).getTime() - 1))).toBe(true)
  expect(await uploads.isOpen('a', day(1))).toBe(false)
  expect(await uploads.isOpen('done', day(0))).toBe(false)
  expect(await uploads.sweep(day(7))).toBe(0)
  expect(await uploads.sweep(day(8))).toBe(2)
  expect(await uploads.find(tenantId, 'a')).toBeUndefined()
})

async function* pieces(bytes: Uint8Array, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

test('chunks in any sizes, repeated, cut off and torn make the file', async () => {
  const file = fc.uint8Array({ minLength: 1, maxLength: 200 })
  const step = fc.record({
    back: fc.nat(60),
    length: fc.integer({ min: 1, max: 80 }),
    piece: fc.integer({ min: 1, max: 30 }),
    cut: fc.boolean(),
    torn: fc.boolean(),
  })
  const root = tempDir()
  let run = 0
  await fc.assert(
    fc.asyncProperty(file, fc.array(step, { maxLength: 8 }), async (bytes, steps) => {
      const directory = join(root, String(run++))
      mkdirSync(directory)
      let received = 0
      for (const { back, length, piece, cut, torn } of [
        ...steps,
        { back: 0, length: 200, piece: 7, cut: false, torn: true },
      ]) {
        const start = Math.max(0, received - back)
        const chunk = bytes.subarray(start, start + length)
        const cutAt = Math.floor(chunk.length / 2)
        async function* coming() {
          yield* pieces(cut ? chunk.subarray(0, cutAt) : chunk, piece)
          if (cut) throw new Error('cut')
        }
        if (torn && received > 0) writeFileSync(join(directory, 'id'), 'torn', { flag: 'a' })
        const told = await appendToFile(join(directory, 'id'), { received, start, bytes: coming() })
        expect(told.failure).toEqual(cut ? new Error('cut') : undefined)
        expect(told.received).toBe(Math.max(received, start + (cut ? cutAt : chunk.length)))
        received = told.received
        expect(readFileSync(join(directory, 'id')).equals(bytes.subarray(0, received))).toBe(true)
      }
    }),
    { numRuns: runs(30, 8) },
  )
})

test('a chunk that repeats other bytes changes nothing', async () => {
  const directory = tempDir()
  const file = join(directory, 'id')
  await appendToFile(file, { received: 0, start: 0, bytes: pieces(Buffer.from('abcdef'), 2) })
  const told = await appendToFile(file, { received: 6, start: 2, bytes: pieces(Buffer.from('cdXfgh'), 3) })
  expect(told).toEqual({ received: 6, failure: new ChunkDiffers() })
  expect(readFileSync(join(directory, 'id'), 'utf8')).toBe('abcdef')
})

test('a finished file has the hash of as many bytes as it is to have', async () => {
  const { uploads, begin } = await newUploads()
  const directory = tempDir()
  const files = new FolderUploads(directory, { uploads, locks: new KeyedLock(), now: () => day(0) })
  await begin('id')
  await appendToFile(join(directory, 'id'), { received: 0, start: 0, bytes: pieces(Buffer.from('abcdef'), 6) })
  const empty = await files.withFile('empty', 0, async (file) => file)
  expect(empty).toMatchObject({ size: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' })
  const file = await files.withFile('id', 3, async (file) => file)
  expect(file).toMatchObject({ size: 3, sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' })
  expect(readFileSync(file.path, 'utf8')).toBe('abc')
  expect(await files.size({ id: 'id', bytesReceived: 5 })).toBe(3)
  expect(await files.size({ id: 'none', bytesReceived: 5 })).toBe(0)
  await files.sweep()
  expect(readdirSync(directory)).toEqual(['id'])
})
