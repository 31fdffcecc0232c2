import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { S3Bucket, type S3Object, type S3Options } from '../../../src/state/s3/s3-bucket.ts'
import { tempDir } from '../../support/temp.ts'
import { Swift } from '../support/swift.ts'

const mb = 1024 * 1024
let swift: Swift
let options: S3Options

beforeAll(async () => {
  swift = await Swift.start()
  options = { ...(await swift.bucket('packs')), prefix: 'ganglion/' }
})
afterAll(() => swift.remove())

function fileOf(bytes: Buffer) {
  const path = join(tempDir(), 'file')
  writeFileSync(path, bytes)
  return { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

test('what is put is read, whole and in part, listed with its time, and deleted', async () => {
  const bucket = new S3Bucket(options)
  const bytes = randomBytes(3000)
  await bucket.put('a/one.pack', fileOf(bytes))
  await bucket.put('a/empty.pack', fileOf(Buffer.alloc(0)))
  expect(await read(bucket, 'a/one.pack', 3000)).toEqual(bytes)
  const part = await bucket.get('a/one.pack', 3000, { first: 10, last: 19 })
  expect(part && (await buffer(part))).toEqual(bytes.subarray(10, 20))
  expect(await read(bucket, 'a/empty.pack', 0)).toEqual(Buffer.alloc(0))
  expect(await bucket.has('a/one.pack')).toBe(true)
  const listed: S3Object[] = []
  for await (const object of bucket.list()) listed.push(object)
  expect(listed.map(({ key }) => key)).toEqual(['a/empty.pack', 'a/one.pack'])
  for (const { storedAt } of listed) expect(Math.abs(storedAt.getTime() - Date.now())).toBeLessThan(60_000)
  await bucket.delete('a/one.pack')
  await bucket.delete('a/one.pack')
  expect(await bucket.has('a/one.pack')).toBe(false)
  expect(await bucket.get('a/one.pack', 3000)).toBeUndefined()
})

test('a large file goes in parts, and is one object', async () => {
  const bucket = new S3Bucket(options, { partBytes: 5 * mb })
  const bytes = randomBytes(12 * mb)
  await bucket.put('large.pack', fileOf(bytes))
  expect((await read(bucket, 'large.pack', bytes.length))?.equals(bytes)).toBe(true)
})

test('bytes that are not those that were promised are refused by the store', async () => {
  const bucket = new S3Bucket(options)
  const file = { ...fileOf(randomBytes(100)), sha256: '0'.repeat(64) }
  await expect(bucket.put('wrong.pack', file)).rejects.toThrow('BadDigest')
  expect(await bucket.has('wrong.pack')).toBe(false)
})

async function read(bucket: S3Bucket, key: string, size: number): Promise<Buffer | undefined> {
  const bytes = await bucket.get(key, size)
  return bytes && buffer(bytes)
}
