import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { S3Bucket, S3Error } from '../../src/state/s3/s3-bucket.ts'
import { PackNotFound, type PackStore, S3Packs } from '../../src/state/s3/s3-packs.ts'
import { listening } from '../support/listening.ts'
import { tempDir } from '../support/temp.ts'
import { s3Server } from './s3-server.ts'

const partBytes = 1000

function fileOf(bytes: Buffer) {
  const path = join(tempDir(), 'file')
  writeFileSync(path, bytes)
  return { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

async function keysOf(packs: PackStore): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of packs.list()) keys.push(key)
  return keys
}

test.each([999, 1000, 1001, 2000, 3500])('a file of %i bytes is put in parts of 1,000 and read back', async (size) => {
  const { options, uploads } = await s3Server()
  const bucket = new S3Bucket(options, { partBytes })
  const bytes = randomBytes(size)
  await bucket.put('a/b', fileOf(bytes))
  const read = await bucket.get('a/b', size)
  expect(read && (await buffer(read)).equals(bytes)).toBe(true)
  expect(uploads.size).toBe(0)
})

test('an upload in parts that fails leaves no object and no parts', async () => {
  const { options, objects, uploads, failures } = await s3Server()
  const bucket = new S3Bucket(options, { partBytes })
  failures.push(0, 0, 403)
  await expect(bucket.put('a', fileOf(randomBytes(2500)))).rejects.toThrow(S3Error)
  expect([objects.size, uploads.size]).toEqual([0, 0])
})

test('the store is told how to encrypt, of one request and of parts alike', async () => {
  const { options, encryption } = await s3Server()
  const bucket = new S3Bucket({ ...options, encryption: 'aws:kms', kmsKey: 'key/1' }, { partBytes })
  await bucket.put('small', fileOf(randomBytes(10)))
  await bucket.put('large', fileOf(randomBytes(1500)))
  const told = ['x-amz-server-side-encryption-aws-kms-key-id: key/1', 'x-amz-server-side-encryption: aws:kms']
  for (const key of ['small', 'large']) expect(encryption.get(`${options.prefix}${key}`)?.sort()).toEqual(told)
})

test.each([60, -60])('a store whose clock is %i minutes ahead is served by its own', async (minutes) => {
  const { options, clock, uploads } = await s3Server()
  clock.ahead = minutes * 60_000
  const bucket = new S3Bucket(options, { partBytes })
  expect(await bucket.has('a')).toBe(false)
  await bucket.put('a', fileOf(randomBytes(2500)))
  const another = new S3Bucket(options)
  expect(await Promise.all(Array.from({ length: 4 }, () => another.has('a')))).toEqual(Array(4).fill(true))
  clock.ahead = 0
  expect(await bucket.has('a')).toBe(true)
  expect(uploads.size).toBe(0)
})

test('a store that does not answer is given up in time, whatever is collected as garbage meanwhile', async () => {
  const endpoint = await listening(createServer((request) => void request.resume()))
  const { options } = await s3Server()
  const bucket = new S3Bucket({ ...options, endpoint }, { patience: 300 })
  const collecting = setInterval(collectGarbage(), 20)
  await expect(bucket.put('a', fileOf(randomBytes(10)))).rejects.toThrow('cannot be reached')
  // However large what is asked for may be.
  await expect(bucket.get('a', 2 ** 31)).rejects.toThrow('cannot be reached')
  clearInterval(collecting)
})

/** Returns V8's garbage collector, which needs a flag. */
function collectGarbage(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

test('packs are put, listed, read and deleted by key', async () => {
  const { options } = await s3Server()
  const packs = new S3Packs(options)
  const bytes = randomBytes(100)
  const keys = ['kb/one.pack', 'kb/three.pack', 'kb/two.pack']
  for (const key of keys) await packs.put(key, fileOf(bytes))
  expect(await keysOf(packs)).toEqual(keys)
  expect(await buffer(await packs.get('kb/one.pack', 100))).toEqual(bytes)
  expect([await packs.has('kb/one.pack'), await packs.has('kb/four.pack')]).toEqual([true, false])
  await packs.delete('kb/one.pack')
  await packs.delete('kb/one.pack')
  await expect(packs.get('kb/one.pack', 100)).rejects.toThrow(PackNotFound)
  expect(await keysOf(packs)).toEqual(keys.slice(1))
})

test('an object that breaks off is told of as the failure of the store that it is', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 1000 })
    response.write('begun', () => response.destroy())
  })
  const { options } = await s3Server()
  const bucket = new S3Bucket({ ...options, endpoint: await listening(server) })
  const read = (await bucket.get('a', 1000)) ?? expect.unreachable()
  await expect(buffer(read)).rejects.toThrow(new S3Error('broke off in the middle of an object'))
})
