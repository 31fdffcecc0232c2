import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { BlobNotFound, type BlobStore, type NoteBlob } from '../../src/state/blobs/blob-store.ts'
import { FolderBlobs } from '../../src/state/blobs/folder-blobs.ts'
import { receiveFile, TooManyBytes } from '../../src/state/blobs/receive-file.ts'
import { BlobKeys, S3Blobs } from '../../src/state/blobs/s3-blobs.ts'
import { inTransaction } from '../../src/state/database/transaction.ts'
import { S3Error } from '../../src/state/s3/s3-bucket.ts'
import type { ReceivedFile } from '../../src/system/received-file.ts'
import { tempDir } from '../support/temp.ts'
import { s3Server } from './s3-server.ts'
import { testDatabase } from './support.ts'

type Bed = {
  blobs: BlobStore
  receive: (bytes: string | Buffer) => Promise<ReceivedFile>
  /** Records a blob's name. */
  name: (note: NoteBlob) => Promise<void>
  /** Makes the copies of a blob that are there as old as a day and a minute. */
  age: (sha256: string) => void
  /** The hashes of what is stored, each as often as it is. */
  stored: () => string[]
}

const dayAndMinute = (24 * 60 + 1) * 60_000
const old = () => new Date(Date.now() - dayAndMinute)
const hashOf = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
const nobody = async () => {}

async function* stream(...chunks: (string | Buffer)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

function receiverOf(incoming: string) {
  return (bytes: string | Buffer) => receiveFile(stream(bytes), incoming, { maxBytes: 1e9 })
}

async function folderBed(): Promise<Bed> {
  const root = tempDir()
  const { db } = await testDatabase()
  const age = (sha256: string) => utimesSync(join(root, sha256.slice(0, 2), sha256.slice(2, 4), sha256), old(), old())
  const stored = () =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).flatMap((path) => path.split('/')[2] ?? [])
  const name = (note: NoteBlob) => inTransaction(db, note)
  return { blobs: new FolderBlobs(root), receive: receiverOf(tempDir()), name, age, stored }
}

async function bucketBed() {
  const { options, objects, failures } = await s3Server()
  const { db } = await testDatabase()
  const [keys, incoming] = [new BlobKeys(db), tempDir()]
  const age = (sha256: string) => {
    for (const [key, object] of objects) if (key.includes(sha256)) object.storedAt = old()
  }
  const stored = () => [...objects.keys()].flatMap((key) => /[0-9a-f]{64}/.exec(key)?.[0] ?? [])
  const blobs = new S3Blobs(options, keys, incoming)
  const bed: Bed = { blobs, receive: receiverOf(incoming), name: (note) => inTransaction(db, note), age, stored }
  return { ...bed, options, objects, failures, keys, incoming }
}

for (const [kind, makeBed] of Object.entries({ 'a folder': folderBed, 'a bucket': bucketBed })) {
  test(`${kind} gives back what was kept, whole or in part`, async () => {
    const { blobs, receive, name } = await makeBed()
    const bytes = Buffer.alloc(3 * 1024 * 1024, 'Kolmården\n')
    const file = await receive(bytes)
    await blobs.keep(file, name)
    expect(file).toMatchObject({ sha256: hashOf(bytes), size: bytes.length })
    expect((await buffer(await blobs.get(file.sha256))).equals(bytes)).toBe(true)
    expect(await buffer(await blobs.get(file.sha256, { first: 3, last: 9 }))).toEqual(bytes.subarray(3, 10))
    expect(await blobs.has(file.sha256)).toBe(true)
    expect(await blobs.withFile(file.sha256, async (path) => hashOf(readFileSync(path)))).toBe(file.sha256)
  })

  test(`${kind} keeps an empty blob, too`, async () => {
    const { blobs, receive, name } = await makeBed()
    const file = await receive('')
    expect(await blobs.has(file.sha256)).toBe(false)
    await blobs.keep(file, name)
    expect(await buffer(await blobs.get(file.sha256))).toHaveLength(0)
  })

  test(`${kind} tells what it does not have`, async () => {
    const { blobs } = await makeBed()
    const sha256 = hashOf('nothing')
    expect(await blobs.has(sha256)).toBe(false)
    await expect(blobs.get(sha256)).rejects.toThrow(BlobNotFound)
    await expect(blobs.withFile(sha256, async () => 1)).rejects.toThrow(BlobNotFound)
    expect(await blobs.sweep(async () => false, new Date())).toBe(0)
  })

  test(`${kind} has bytes that were kept twice once, a day later`, async () => {
    const { blobs, receive, name, age, stored } = await makeBed()
    const file = await receive('twice')
    await blobs.keep(file, name)
    await blobs.keep(await receive('twice'), name)
    age(file.sha256)
    await blobs.sweep(async () => true, new Date())
    expect(stored()).toEqual([file.sha256])
    expect(String(await buffer(await blobs.get(file.sha256)))).toBe('twice')
  })

  test(`what cannot be named is told, and ${kind} can be asked to keep it again`, async () => {
    const { blobs, receive, name } = await makeBed()
    const file = await receive('refused')
    const refuse = async () => {
      throw new Error('a duplicate')
    }
    await expect(blobs.keep(file, refuse)).rejects.toThrow('a duplicate')
    await blobs.keep(file, name)
    expect(String(await buffer(await blobs.get(file.sha256)))).toBe('refused')
  })

  test(`the sweep of ${kind} removes what nothing names, a day after it came`, async () => {
    const { blobs, receive, name, age, stored } = await makeBed()
    const [named, orphan, young] = await Promise.all(['named', 'orphan', 'young'].map(receive))
    if (named === undefined || orphan === undefined || young === undefined) throw new Error()
    await blobs.keep(named, name)
    for (const file of [orphan, young]) await blobs.keep(file, nobody)
    age(named.sha256)
    age(orphan.sha256)
    const isNamed = async (sha256: string) => sha256 === named.sha256
    expect(await blobs.sweep(isNamed, new Date())).toBe(1)
    expect(stored().sort()).toEqual([named.sha256, young.sha256].sort())
  })

  test(`the sweep of ${kind} leaves what somebody has put, and is about to name`, async () => {
    const { blobs, receive, name, age } = await makeBed()
    const file = await receive('wanted again')
    await blobs.keep(file, nobody)
    age(file.sha256)
    const names = new Set<string>()
    const { working, nameIt } = await keepUntilTold(blobs, file, async (note) => {
      await name(note)
      names.add(file.sha256)
    })
    const sweeping = blobs.sweep(async (sha256) => names.has(sha256), new Date())
    nameIt()
    await Promise.all([working, sweeping])
    expect(String(await buffer(await blobs.get(file.sha256)))).toBe('wanted again')
  })
}

/** Puts a blob, which is named once that is asked for. */
async function keepUntilTold(blobs: BlobStore, file: ReceivedFile, name: (note: NoteBlob) => Promise<void>) {
  const [put, naming] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const working = blobs.keep(file, async (note) => {
    put.resolve()
    await naming.promise
    await name(note)
  })
  await put.promise
  return { working, nameIt: naming.resolve }
}

test('the sweep of a folder waits for whoever is about to name a blob, however long ago it was put', async () => {
  const { blobs, receive, age } = await folderBed()
  const file = await receive('slow')
  const names = new Set<string>()
  const { working, nameIt } = await keepUntilTold(blobs, file, async () => void names.add(file.sha256))
  age(file.sha256)
  const sweeping = blobs.sweep(async (sha256) => names.has(sha256), new Date())
  nameIt()
  await working
  expect(await sweeping).toBe(0)
  expect(await blobs.has(file.sha256)).toBe(true)
})

test('a folder keeps a blob when the file that it came from is gone, and the file when it is kept', async () => {
  const { blobs, receive, name } = await folderBed()
  const file = await receive('linked')
  await blobs.keep(file, name)
  expect(existsSync(file.path)).toBe(true) // to be kept again after a crash
  writeFileSync(`${file.path}.other`, '')
  await blobs.keep(file, name)
  expect(String(await buffer(await blobs.get(file.sha256)))).toBe('linked')
})

test('a node that sweeps a bucket removes nothing that another one has put, and is about to name', async () => {
  const { blobs, receive, name, age, options, keys, incoming } = await bucketBed()
  const other = new S3Blobs(options, keys, incoming)
  const file = await receive('wanted again')
  await blobs.keep(file, nobody)
  age(file.sha256)
  await blobs.keep(file, async (note) => {
    expect(await other.sweep(async () => false, new Date())).toBe(1)
    await name(note)
  })
  age(file.sha256)
  expect(await other.sweep(async () => false, new Date())).toBe(0)
  expect(String(await buffer(await other.get(file.sha256)))).toBe('wanted again')
})

test('a blob that was put hours ago is no longer named', async () => {
  const { blobs, receive, name, stored } = await bucketBed()
  const file = await receive('late')
  onTestFinished(() => void vi.useRealTimers())
  const late = blobs.keep(file, async (note) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7 * 60 * 60_000 })
    await name(note)
  })
  await expect(late).rejects.toThrow('too long ago')
  vi.useRealTimers()
  expect(stored()).toEqual([file.sha256])
  expect(await blobs.has(file.sha256)).toBe(false)
})

test('a bucket gives blobs that were put under their hashes alone, and keeps those that are named', async () => {
  const { blobs, receive, name, age, options, objects, stored } = await bucketBed()
  const [named, orphan] = [hashOf('named'), hashOf('orphan')]
  for (const bytes of ['named', 'orphan']) {
    const hash = hashOf(bytes)
    const key = `${options.prefix}${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`
    objects.set(key, { bytes: Buffer.from(bytes), storedAt: old() })
  }
  objects.set(`${options.prefix}notes.txt`, { bytes: Buffer.from('of somebody else'), storedAt: old() })
  expect(String(await buffer(await blobs.get(named)))).toBe('named')
  expect(await blobs.sweep(async (sha256) => sha256 === named, new Date())).toBe(1)
  expect(await blobs.has(orphan)).toBe(false)
  expect(objects.size).toBe(2)
  await blobs.keep(await receive('named'), name)
  expect(stored()).toEqual([named, named])
  // As where the bucket was restored without what was put since.
  for (const key of objects.keys()) if (/-[0-9a-f]{8}$/.test(key)) objects.delete(key)
  age(named)
  expect(String(await buffer(await blobs.get(named)))).toBe('named')
})

test('a bucket that fails for a moment is asked again; one that refuses is told of without its words', async () => {
  const { blobs, receive, name, options, failures, keys, incoming } = await bucketBed()
  const file = await receive('bytes')
  failures.push(500, 503)
  await blobs.keep(file, name)
  expect(await blobs.has(file.sha256)).toBe(true)
  const stranger = new S3Blobs({ ...options, secretAccessKey: 'wrong' }, keys, incoming)
  await expect(stranger.keep(file, name)).rejects.toThrow(new S3Error('answered PUT with 403 (SignatureDoesNotMatch)'))
  await expect(stranger.has(file.sha256)).rejects.toThrow(S3Error)
  await expect(stranger.sweep(async () => false, new Date())).rejects.toThrow(S3Error)
  const absent = new S3Blobs({ ...options, endpoint: 'http://127.0.0.1:10' }, keys, incoming)
  const refused = new S3Error('cannot be reached: connect ECONNREFUSED 127.0.0.1:10')
  await expect(absent.keep(file, name)).rejects.toThrow(refused)
})

test('a copy of a blob of a bucket is gone when the work is done, or fails', async () => {
  const { blobs, receive, name, incoming } = await bucketBed()
  const file = await receive('bytes')
  await blobs.keep(file, name)
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
