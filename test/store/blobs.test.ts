import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { BlobNotFound, type BlobStore, type ReceivedFile } from '../../src/store/blobs/blob-store.ts'
import { FolderBlobs } from '../../src/store/blobs/folder-blobs.ts'
import { receiveFile, TooManyBytes } from '../../src/store/blobs/receive-file.ts'
import { S3Blobs } from '../../src/store/blobs/s3-blobs.ts'
import { sweepOrphans } from '../../src/store/blobs/sweep-orphans.ts'
import { KeyedLock } from '../../src/store/keyed-lock.ts'
import { S3Error } from '../../src/store/s3/s3-bucket.ts'
import { tempDir } from '../support/temp.ts'
import { s3Server } from './s3-server.ts'

type Bed = {
  blobs: BlobStore
  receive: (bytes: string | Buffer) => Promise<ReceivedFile>
  /** Makes a blob as old as a day and a minute. */
  age: (sha256: string) => void
}

const dayAndMinute = (24 * 60 + 1) * 60_000
const old = () => new Date(Date.now() - dayAndMinute)
const hashOf = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

async function* stream(...chunks: (string | Buffer)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

async function folderBed(): Promise<Bed> {
  const root = tempDir()
  const incoming = tempDir()
  const age = (sha256: string) => utimesSync(join(root, sha256.slice(0, 2), sha256.slice(2, 4), sha256), old(), old())
  const receive = (bytes: string | Buffer) => receiveFile(stream(bytes), incoming, { maxBytes: 1e9 })
  return { blobs: new FolderBlobs(root), receive, age }
}

async function bucketBed(): Promise<Bed> {
  const { options, objects } = await s3Server()
  const incoming = tempDir()
  const age = (sha256: string) => {
    for (const [key, object] of objects) if (key.endsWith(sha256)) object.storedAt = old()
  }
  const receive = (bytes: string | Buffer) => receiveFile(stream(bytes), incoming, { maxBytes: 1e9 })
  return { blobs: new S3Blobs(options, incoming), receive, age }
}

const all = async (blobs: BlobStore) => {
  const found: string[] = []
  for await (const { sha256 } of blobs.list()) found.push(sha256)
  return found.sort()
}

for (const [name, makeBed] of Object.entries({ 'a folder': folderBed, 'a bucket': bucketBed })) {
  test(`${name} gives back what was put, whole or in part`, async () => {
    const { blobs, receive } = await makeBed()
    const bytes = Buffer.alloc(3 * 1024 * 1024, 'Kolmården\n')
    const file = await receive(bytes)
    await blobs.put(file)
    expect(file).toMatchObject({ sha256: hashOf(bytes), size: bytes.length })
    expect((await buffer(await blobs.get(file.sha256))).equals(bytes)).toBe(true)
    expect(await buffer(await blobs.get(file.sha256, { first: 3, last: 9 }))).toEqual(bytes.subarray(3, 10))
    expect(await blobs.has(file.sha256)).toBe(true)
    expect(await blobs.withFile(file.sha256, async (path) => hashOf(readFileSync(path)))).toBe(file.sha256)
  })

  test(`${name} keeps an empty blob, too`, async () => {
    const { blobs, receive } = await makeBed()
    const { sha256 } = await receive('')
    expect(await blobs.has(sha256)).toBe(false)
    await blobs.put({ ...(await receive('')), sha256 })
    expect(await buffer(await blobs.get(sha256))).toHaveLength(0)
  })

  test(`${name} tells what it does not have`, async () => {
    const { blobs } = await makeBed()
    const sha256 = hashOf('nothing')
    expect(await blobs.has(sha256)).toBe(false)
    await expect(blobs.get(sha256)).rejects.toThrow(BlobNotFound)
    await expect(blobs.withFile(sha256, async () => 1)).rejects.toThrow(BlobNotFound)
    await expect(blobs.delete(sha256)).resolves.toBeUndefined()
    expect(await all(blobs)).toEqual([])
  })

  test(`${name} lists what it has, and forgets what is deleted`, async () => {
    const { blobs, receive } = await makeBed()
    const files = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(receive))
    for (const file of files) await blobs.put(file)
    const hashes = files.map(({ sha256 }) => sha256).sort()
    expect(await all(blobs)).toEqual(hashes)
    await blobs.delete(hashes[0] ?? '')
    expect(await all(blobs)).toEqual(hashes.slice(1))
    expect(await blobs.has(hashes[0] ?? '')).toBe(false)
  })

  test(`to put into ${name} what is there only makes it young`, async () => {
    const { blobs, receive, age } = await makeBed()
    const file = await receive('twice')
    await blobs.put(file)
    age(file.sha256)
    await blobs.put(await receive('twice'))
    for await (const { storedAt } of blobs.list()) expect(storedAt.getTime()).toBeGreaterThan(old().getTime() + 60_000)
    expect(String(await buffer(await blobs.get(file.sha256)))).toBe('twice')
  })

  test(`the sweep of ${name} removes what nothing names, a day after it came`, async () => {
    const { blobs, receive, age } = await makeBed()
    const [named, orphan, young] = await Promise.all(['named', 'orphan', 'young'].map(receive))
    if (named === undefined || orphan === undefined || young === undefined) throw new Error()
    for (const file of [named, orphan, young]) await blobs.put(file)
    age(named.sha256)
    age(orphan.sha256)
    const isNamed = async (sha256: string) => sha256 === named.sha256
    const removed = await sweepOrphans(blobs, { locks: new KeyedLock(), isNamed, now: new Date() })
    expect(removed).toBe(1)
    expect(await all(blobs)).toEqual([named.sha256, young.sha256].sort())
  })

  test(`the sweep of ${name} waits for whoever is about to name a blob`, async () => {
    const { blobs, receive, age } = await makeBed()
    const file = await receive('wanted again')
    await blobs.put(file)
    age(file.sha256)
    const locks = new KeyedLock()
    const names = new Set<string>()
    const naming = Promise.withResolvers<void>()
    const working = locks.run(file.sha256, async () => {
      await naming.promise
      names.add(file.sha256)
    })
    const sweeping = sweepOrphans(blobs, { locks, isNamed: async (sha256) => names.has(sha256), now: new Date() })
    naming.resolve()
    await working
    expect(await sweeping).toBe(0)
    expect(await blobs.has(file.sha256)).toBe(true)
  })
}

test('a folder keeps a blob when the file that it came from is gone, and the file when it is put', async () => {
  const { blobs, receive } = await folderBed()
  const file = await receive('linked')
  await blobs.put(file)
  expect(existsSync(file.path)).toBe(true) // to be put again after a crash
  writeFileSync(`${file.path}.other`, '')
  await blobs.put(file)
  expect(String(await buffer(await blobs.get(file.sha256)))).toBe('linked')
})

test('a bucket that fails for a moment is asked again; one that refuses is told of without its words', async () => {
  const { options, failures } = await s3Server()
  const incoming = tempDir()
  const blobs = new S3Blobs(options, incoming)
  const file = await receiveFile(stream('bytes'), incoming, { maxBytes: 10 })
  failures.push(500, 503)
  await blobs.put(file)
  expect(await blobs.has(file.sha256)).toBe(true)
  const stranger = new S3Blobs({ ...options, secretAccessKey: 'wrong' }, incoming)
  await expect(stranger.put(file)).rejects.toThrow(new S3Error('answered PUT with 403 (SignatureDoesNotMatch)'))
  await expect(stranger.has(file.sha256)).rejects.toThrow(S3Error)
  await expect(all(stranger)).rejects.toThrow(S3Error)
  const absent = new S3Blobs({ ...options, endpoint: 'http://127.0.0.1:1' }, incoming)
  await expect(absent.put(file)).rejects.toThrow(new S3Error('cannot be reached'))
})

test('a copy of a blob of a bucket is gone when the work is done, or fails', async () => {
  const { options } = await s3Server()
  const incoming = tempDir()
  const blobs = new S3Blobs(options, incoming)
  const file = await receiveFile(stream('bytes'), incoming, { maxBytes: 10 })
  await blobs.put(file)
  const work = blobs.withFile(file.sha256, async (path) => {
    expect(readFileSync(path, 'utf8')).toBe('bytes')
    throw new Error('broken')
  })
  await expect(work).rejects.toThrow('broken')
  expect(readdirSync(incoming)).toEqual([file.path.split('/').at(-1)])
})

test('a file is received up to its limit, and nothing is left of one that is longer or breaks off', async () => {
  const directory = tempDir()
  expect(await receiveFile(stream('ab', 'c'), directory, { maxBytes: 3 })).toMatchObject({
    size: 3,
    sha256: hashOf('abc'),
  })
  const before = readdirSync(directory)
  await expect(receiveFile(stream('ab', 'cd'), directory, { maxBytes: 3 })).rejects.toThrow(TooManyBytes)
  async function* broken() {
    yield Buffer.from('a')
    throw new Error('cut')
  }
  await expect(receiveFile(broken(), directory, { maxBytes: 3 })).rejects.toThrow('cut')
  expect(readdirSync(directory)).toEqual(before)
})
