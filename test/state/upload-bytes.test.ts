import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { BucketUploads } from '../../src/state/blobs/bucket-uploads.ts'
import { FolderUploads } from '../../src/state/blobs/folder-uploads.ts'
import {
  ChunkDiffers,
  type ReceivedChunk,
  type UploadBytes,
  UploadChanged,
} from '../../src/state/blobs/upload-bytes.ts'
import { KnowledgeBases } from '../../src/state/kb-store.ts'
import { UploadChunks } from '../../src/state/sources/upload-chunks.ts'
import { Uploads } from '../../src/state/sources/upload-store.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { KeyedLock } from '../../src/system/concurrency/keyed-lock.ts'
import { fc, runs } from '../support/properties.ts'
import { tempDir } from '../support/temp.ts'
import { s3Server } from './s3-server.ts'
import { testDatabase } from './support.ts'

const hour = 60 * 60_000

/** Rows of uploads, and a clock that the test sets. */
async function rows() {
  const { db } = await testDatabase()
  const clock = { now: new Date() }
  const now = () => clock.now
  const { id: tenantId } = await new Tenants(db).ensure('acme', now())
  await new KnowledgeBases(db).create({ id: 'kb', tenantId, slug: 'kb', prefix: 'kb' }, now())
  const uploads = new Uploads(db)
  const begin = (id: string) =>
    uploads.begin(
      {
        ...{ id, tenantId, kbId: 'kb', filename: 'a.md', path: '/', metadata: null },
        ...{ fileSize: 9, contentHash: null, isForced: false, replaces: false, uploaderId: null },
      },
      now(),
    )
  return { db, clock, now, uploads, begin }
}

async function folderBed() {
  const { uploads, now, ...more } = await rows()
  const folder = tempDir()
  const bytes: UploadBytes = new FolderUploads(folder, { uploads, locks: new KeyedLock(), now })
  return { ...more, uploads, bytes, kept: () => readdirSync(folder) }
}

async function bucketBed() {
  const { db, now, ...more } = await rows()
  const { options, objects } = await s3Server()
  const node = () => new BucketUploads(options, new UploadChunks(db), { scratch: tempDir(), now })
  const kept = () => [...objects.keys()].map((key) => key.slice(options.prefix.length).split('/')[0] ?? '')
  const [bytes, other]: [UploadBytes, UploadBytes] = [node(), node()]
  return { ...more, bytes, other, kept, objects, options }
}

async function* pieces(bytes: Uint8Array, size = 7) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

function text(words: string, start = 0): ReceivedChunk {
  return { start, bytes: pieces(Buffer.from(words)) }
}

/** Adds a chunk, as a caller does who takes all that is there. */
function append(bytes: UploadBytes, id: string, chunk: ReceivedChunk) {
  return bytes.append(id, chunk, () => bytes.size({ id, bytesReceived: Number.POSITIVE_INFINITY }))
}

function whole(bytes: UploadBytes, id: string, size: number): Promise<string> {
  return bytes.withFile(id, size, async ({ path, sha256 }) => {
    const found = readFileSync(path)
    expect(sha256).toBe(createHash('sha256').update(found).digest('hex'))
    expect(found).toHaveLength(size)
    return found.toString('latin1')
  })
}

for (const [kind, makeBed] of Object.entries({ 'a folder': folderBed, 'a bucket': bucketBed })) {
  test(`chunks in any sizes, repeated and cut off, make a file in ${kind}`, async () => {
    const { bytes, begin, uploads } = await makeBed()
    const step = fc.record({
      back: fc.nat(60),
      length: fc.integer({ min: 1, max: 80 }),
      piece: fc.integer({ min: 1, max: 30 }),
      cut: fc.boolean(),
    })
    const file = fc.uint8Array({ minLength: 1, maxLength: 200 })
    let run = 0
    await fc.assert(
      fc.asyncProperty(file, fc.array(step, { maxLength: 6 }), async (expected, steps) => {
        const id = String(run++)
        await begin(id)
        let received = 0
        for (const { back, length, piece, cut } of [...steps, { back: 0, length: 200, piece: 7, cut: false }]) {
          const start = Math.max(0, received - back)
          const chunk = expected.subarray(start, start + length)
          const came = cut ? chunk.subarray(0, chunk.length / 2) : chunk
          async function* coming() {
            yield* pieces(came, piece)
            if (cut) throw new Error('cut')
          }
          const told = await append(bytes, id, { start, bytes: coming() })
          received = Math.max(received, start + came.length)
          expect(told).toEqual({ received, failure: cut ? new Error('cut') : undefined })
          expect(await bytes.size({ id, bytesReceived: received })).toBe(received)
        }
        expect(await whole(bytes, id, expected.length)).toBe(Buffer.from(expected).toString('latin1'))
        await bytes.remove(id)
        await uploads.remove(id)
      }),
      { numRuns: runs(15, 5) },
    )
  })

  test(`a chunk that repeats other bytes changes nothing in ${kind}`, async () => {
    const { bytes, begin } = await makeBed()
    await begin('a')
    await append(bytes, 'a', text('abcdef'))
    expect(await append(bytes, 'a', text('cdXfgh', 2))).toEqual({ received: 6, failure: new ChunkDiffers() })
    expect(await whole(bytes, 'a', 6)).toBe('abcdef')
  })

  test(`a chunk that is not wanted is not read, and leaves nothing in ${kind}`, async () => {
    const { bytes, begin, kept } = await makeBed()
    await begin('a')
    let isRead = false
    async function* reading() {
      isRead = true
      yield Buffer.from('abc')
    }
    const refuse = () => Promise.reject(new Error('not wanted'))
    await expect(bytes.append('a', { start: 0, bytes: reading() }, refuse)).rejects.toThrow('not wanted')
    expect([isRead, kept()]).toEqual([false, []])
  })

  test(`an empty upload is an empty file in ${kind}`, async () => {
    const { bytes, begin } = await makeBed()
    await begin('a')
    expect(await whole(bytes, 'a', 0)).toBe('')
  })

  test(`${kind} keeps an upload when work with it fails, and forgets it when that is asked for`, async () => {
    const { bytes, begin, uploads, kept } = await makeBed()
    await begin('a')
    await append(bytes, 'a', text('abcdef'))
    await expect(bytes.withFile('a', 6, () => Promise.reject(new Error('a duplicate')))).rejects.toThrow('a duplicate')
    expect(await whole(bytes, 'a', 6)).toBe('abcdef')
    await uploads.remove('a')
    await bytes.remove('a')
    expect(kept()).toEqual([])
    expect(await bytes.size({ id: 'a', bytesReceived: 6 })).toBe(0)
    await bytes.remove('a')
  })

  test(`the sweep of ${kind} removes uploads that are finalized, gone or expired`, async () => {
    const { bytes, begin, uploads, clock, kept } = await makeBed()
    for (const id of ['expired', 'gone', 'done', 'open']) {
      if (id === 'open') clock.now = new Date(clock.now.getTime() + hour)
      await begin(id)
      await append(bytes, id, text(id))
    }
    await bytes.sweep()
    expect(kept().sort()).toEqual(['done', 'expired', 'gone', 'open'])
    await uploads.finalize('done', clock.now)
    await uploads.remove('gone')
    clock.now = new Date(clock.now.getTime() + 23 * hour)
    await bytes.sweep()
    expect(kept()).toEqual(['open'])
    expect(await whole(bytes, 'open', 4)).toBe('open')
  })
}

test('a chunk that two nodes receive at once is there once', async () => {
  const { bytes, other, begin, kept } = await bucketBed()
  await begin('a')
  async function* slowly() {
    yield Buffer.from('abc')
    expect(await append(other, 'a', text('abcdef'))).toEqual({ received: 6, failure: undefined })
    yield Buffer.from('def')
  }
  expect(await append(bytes, 'a', { start: 0, bytes: slowly() })).toEqual({ received: 6, failure: undefined })
  expect(await whole(bytes, 'a', 6)).toBe('abcdef')
  expect(kept()).toEqual(['a'])
})

test('of two chunks that two nodes receive at once, the second continues the first, or differs from it', async () => {
  const { bytes, other, begin } = await bucketBed()
  const race = async (id: string, first: string, second: string) => {
    await begin(id)
    async function* slowly() {
      await append(other, id, text(first))
      yield Buffer.from(second)
    }
    return append(bytes, id, { start: 0, bytes: slowly() })
  }
  expect(await race('longer', 'abc', 'abcdef')).toEqual({ received: 6, failure: undefined })
  expect(await whole(other, 'longer', 6)).toBe('abcdef')
  expect(await race('other', 'abc', 'abXdef')).toEqual({ received: 3, failure: new ChunkDiffers() })
  expect(await whole(other, 'other', 3)).toBe('abc')
})

test('of nodes that put the same bytes at once, one names its object, and all are told the same', async () => {
  const { bytes, other, begin, kept } = await bucketBed()
  await begin('a')
  for (const start of [0, 4, 8, 12]) {
    const adding = [bytes, other, bytes, other].map((node) => append(node, 'a', text('abcd', start)))
    expect(await Promise.all(adding)).toEqual(Array(4).fill({ received: start + 4, failure: undefined }))
  }
  expect(await whole(other, 'a', 16)).toBe('abcdabcdabcdabcd')
  expect(kept()).toEqual(['a'])
})

test('many small chunks are few objects, and large ones stay as they are', async () => {
  const { bytes, begin, kept, objects } = await bucketBed()
  await begin('a')
  for (let at = 0; at < 30; at++) await append(bytes, 'a', text('x', at))
  expect(kept()).toEqual(['a'])
  const large = Buffer.alloc(2 ** 20, 'y')
  await append(bytes, 'a', { start: 30, bytes: pieces(large, 2 ** 18) })
  expect(kept()).toEqual(['a'])
  const [joined] = [...objects.keys()]
  await append(bytes, 'a', text('z', 30 + large.length))
  await append(bytes, 'a', text('zz', 30 + large.length))
  expect(objects.has(joined ?? '')).toBe(true)
  expect(kept()).toEqual(['a', 'a'])
  expect(await whole(bytes, 'a', 32 + large.length)).toBe(`${'x'.repeat(30)}${large}zz`)
})

test('a chunk of an upload that another node abandons or finalizes meanwhile is not added', async () => {
  const { bytes, other, begin, uploads, clock, kept } = await bucketBed()
  const ends = {
    abandoned: (id: string) => uploads.remove(id),
    finalized: (id: string) => uploads.finalize(id, clock.now),
  }
  for (const [id, end] of Object.entries(ends)) {
    await begin(id)
    await append(bytes, id, text('abc'))
    const admit = async () => {
      if (await uploads.isOpen(id, clock.now)) return 3
      throw new Error(`It is ${id}.`)
    }
    async function* slowly() {
      await end(id)
      await other.remove(id)
      yield Buffer.from('def')
    }
    await expect(bytes.append(id, { start: 3, bytes: slowly() }, admit)).rejects.toThrow(`It is ${id}.`)
  }
  expect(kept()).toEqual([])
})

test('a node that reads an upload that another one removes is told so', async () => {
  const { bytes, begin, objects } = await bucketBed()
  await begin('a')
  await append(bytes, 'a', text('abcdef'))
  await expect(whole(bytes, 'a', 7)).rejects.toThrow(UploadChanged)
  objects.clear()
  await expect(whole(bytes, 'a', 6)).rejects.toThrow(UploadChanged)
  await expect(append(bytes, 'a', text('abcdef'))).rejects.toThrow(UploadChanged)
})

test('what a node that was killed has put, and not named, is removed a day later', async () => {
  const { bytes, begin, objects, options, kept } = await bucketBed()
  await begin('a')
  await append(bytes, 'a', text('abc'))
  const put = (id: string, ageMs: number) =>
    objects.set(join(options.prefix, id, '3-00000000'), {
      bytes: Buffer.from('def'),
      storedAt: new Date(Date.now() - ageMs),
    })
  for (const object of objects.values()) object.storedAt = new Date(Date.now() - 25 * hour)
  put('young', 23 * hour)
  put('old', 25 * hour)
  await bytes.sweep()
  expect(kept().sort()).toEqual(['a', 'young'])
  expect(await whole(bytes, 'a', 3)).toBe('abc')
})

test('a chunk that was put an hour ago is no longer named', async () => {
  const { bytes, begin, uploads } = await bucketBed()
  const upload = await begin('a')
  onTestFinished(() => void vi.useRealTimers())
  const chunks = vi.spyOn(UploadChunks.prototype, 'add').mockImplementationOnce(function (
    this: UploadChunks,
    ...given
  ) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * hour })
    return this.add(...given)
  })
  onTestFinished(() => chunks.mockRestore())
  await expect(append(bytes, 'a', text('abc'))).rejects.toThrow('too long ago')
  expect(await bytes.size(upload)).toBe(0)
  expect(await uploads.find(upload.tenantId, 'a')).toEqual(upload)
})
