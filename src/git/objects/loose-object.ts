import { closeSync, createReadStream, openSync, readFileSync, readSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createInflate } from 'node:zlib'
import { GitError } from '../git-error.ts'
import { atOnce, inflateBeginning, inflateExactly } from './inflate.ts'
import type { GitObject, ObjectInfo, ObjectType, Oid } from './object.ts'

/** Type and size of a loose object, and the length of its header. */
type Head = ObjectInfo & { length: number }

/** Maximum bytes of a file up to the end of the header, including codes that zlib may put before it. */
const headBytes = 1024

export function loosePath(folder: string, oid: Oid): string {
  return join(folder, oid.slice(0, 2), oid.slice(2))
}

/** Reads the type and size of a loose object. Throws ENOENT if there is none. @throws {GitError} `corrupt-object` */
export function looseInfo(path: string): ObjectInfo {
  const { type, size } = readHead(path)
  return { type, size }
}

/** Reads a loose object. Throws ENOENT if there is none. @throws {GitError} `corrupt-object`, `object-too-large` */
export async function readLoose(path: string, maxBytes: number): Promise<GitObject> {
  const { type, size, length } = readHead(path)
  if (size > maxBytes) throw new GitError('object-too-large', `an object has more than ${maxBytes} bytes`)
  const data = size <= atOnce ? readFileSync(path) : await readFile(path)
  const found = await inflateExactly(data, length + size)
  if (found === undefined) throw new GitError('corrupt-object', 'a loose object is cut short')
  return { type: type as ObjectType, data: found.inflated.subarray(length) }
}

/** Streams the inflated bytes of a loose object. `head`: number of bytes before its content. */
export function streamLoose(path: string): { head: number; bytes: AsyncIterable<Buffer> } {
  return { head: readHead(path).length, bytes: pipeline(createReadStream(path), createInflate(), () => {}) }
}

function readHead(path: string): Head {
  const data = Buffer.allocUnsafe(headBytes)
  const descriptor = openSync(path, 'r')
  let read: number
  try {
    read = readSync(descriptor, data, 0, headBytes, 0)
  } finally {
    closeSync(descriptor)
  }
  const text = inflateBeginning(data.subarray(0, read)).toString('latin1', 0, 64)
  const [head = '', type = '', size = ''] = /^(blob|tree|commit|tag) (\d{1,15})\0/.exec(text) ?? []
  if (head === '') throw new GitError('corrupt-object', 'a loose object has no head')
  return { type: type as ObjectInfo['type'], size: Number(size), length: head.length }
}
