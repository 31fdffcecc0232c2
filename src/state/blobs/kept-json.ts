import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { S3Bucket, type S3Options } from '../s3/s3-bucket.ts'

/** Store of JSON values by name, each complete or absent. A damaged one counts as absent. Methods of a bucket throw {@link S3Error}. */
export interface KeptJson {
  find(name: string): Promise<unknown>
  has(name: string): Promise<boolean>
  remove(name: string): Promise<void>
  names(): Promise<string[]>
  /** Stores a value. `flush`: true if it must survive a power cut. */
  keep(name: string, value: unknown, options: { flush: boolean }): Promise<void>
}

/** Maximum bytes of a value, which determine the timeout of a request. */
const maxBytes = 64 * 1024 ** 2

/** Returns a store in a folder that only this process uses. @param incoming folder for incomplete files, on the same file system */
export function folderJson(directory: string, incoming: string): KeptJson {
  const find = async (name: string) => parsed(await readFile(join(directory, name), 'utf8').catch(() => ''))
  return {
    find,
    has: async (name) => (await find(name)) !== undefined,
    remove: (name) => rm(join(directory, name), { force: true }),
    names: () => readdir(directory),
    async keep(name, value, { flush }) {
      const temporary = join(incoming, randomUUID())
      try {
        await writeFile(temporary, JSON.stringify(value), { flush })
        await rename(temporary, join(directory, name))
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    },
  }
}

/** Returns a store in a bucket that several nodes share. Two nodes may store the same value at once. */
export function bucketJson(options: S3Options): KeptJson {
  const bucket = new S3Bucket(options)
  return {
    async find(name) {
      const bytes = await bucket.get(name, maxBytes)
      return bytes && parsed(await text(bytes))
    },
    has: (name) => bucket.has(name),
    remove: (name) => bucket.delete(name),
    async names() {
      const names = []
      for await (const { key } of bucket.list()) names.push(key)
      return names
    },
    keep: (name, value) => bucket.putBytes(name, Buffer.from(JSON.stringify(value))),
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
