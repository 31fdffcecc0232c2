import { closeSync, createReadStream, openSync, readFileSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createInflate } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { GitError } from '../git-error.ts'
import { applyDelta, readSize, resultSize } from './delta.ts'
import { atOnce, inflateBeginning, inflateExactly } from './inflate.ts'
import type { GitObject, ObjectInfo, ObjectType } from './object.ts'
import { PackIndex } from './pack-index.ts'

const types: Readonly<Record<number, ObjectInfo['type']>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const offsetDelta = 6
const refDelta = 7
/** More than git itself allows a chain of deltas to have. */
const longestChain = 10_000
/** A size of 8 bytes and a base's id: no head of an entry is longer. */
const longestHead = 32

/** Files that are open, of all repositories. */
const openFiles = new LRUCache<PackReader, number>({ max: 256, dispose: (descriptor) => closeSync(descriptor) })

/** An entry of a pack: what it holds compressed, from `start`, and its size when it is inflated. `base`: where a delta's base begins. */
type Entry = { size: number; start: number } & (
  | { type: ObjectInfo['type']; base?: undefined }
  | { type?: undefined; base: number }
)
/** What was a base of others, by pack and offset. */
export type BaseCache = LRUCache<string, { type: ObjectInfo['type']; data: Buffer }>

/** Reads objects of one pack (gitformat-pack(5)), which never changes. Methods throw ENOENT when it was removed meanwhile. */
export class PackReader {
  readonly index: PackIndex
  readonly #path: string
  readonly #bases: BaseCache

  /** @param path of the pack and its index, without their extensions. @throws {GitError} `corrupt-object` for the index. */
  constructor(path: string, bases: BaseCache) {
    this.#path = path
    this.#bases = bases
    this.index = new PackIndex(readFileSync(`${path}.idx`))
  }

  /** @throws {GitError} `corrupt-object`, `object-too-large` */
  async read(offset: number, maxBytes: number): Promise<GitObject> {
    const deltas: { offset: number; data: Buffer }[] = []
    let at = offset
    let found = this.#bases.get(this.#key(at))
    while (found === undefined) {
      const entry = this.#entryAt(at)
      if (entry.size > maxBytes) throw tooLarge(maxBytes)
      const data = await this.#inflate(entry)
      if (entry.base === undefined) {
        found = { type: entry.type, data }
        if (deltas.length > 0) this.#bases.set(this.#key(at), found)
      } else {
        if (resultSize(data) > maxBytes) throw tooLarge(maxBytes)
        if (deltas.push({ offset: at, data }) > longestChain) throw corrupt('a chain of deltas has no end')
        at = entry.base
        found = this.#bases.get(this.#key(at))
      }
    }
    for (const delta of deltas.reverse()) {
      found = { type: found.type, data: applyDelta(found.data, delta.data) }
      this.#bases.set(this.#key(delta.offset), found)
    }
    return { type: found.type as ObjectType, data: found.data }
  }

  /** Type and size, without reading the object. @throws {GitError} `corrupt-object` */
  info(offset: number): ObjectInfo {
    let entry = this.#entryAt(offset)
    const size = entry.base === undefined ? entry.size : resultSize(inflateBeginning(this.#bytes(entry.start, 64)))
    for (let depth = 0; entry.base !== undefined; depth++) {
      if (depth > longestChain) throw corrupt('a chain of deltas has no end')
      entry = this.#entryAt(entry.base)
    }
    return { type: entry.type, size }
  }

  /** The bytes of an object that is no delta, as they are inflated; undefined for a delta. */
  stream(offset: number): AsyncIterable<Buffer> | undefined {
    const entry = this.#entryAt(offset)
    if (entry.base !== undefined) return undefined
    const source = createReadStream(`${this.#path}.pack`, { start: entry.start })
    // The inflater ends where the object does, and has no use for what follows.
    return pipeline(source, createInflate(), () => {})
  }

  close(): void {
    openFiles.delete(this)
  }

  #key(offset: number): string {
    return `${this.#path}:${offset}`
  }

  #entryAt(offset: number): Entry {
    const head = this.#bytes(offset, longestHead)
    const [first = 0] = head
    let [size, end] = [first & 0x0f, 1]
    if (first >= 0x80) {
      const rest = readSize(head, 1)
      size += rest.value * 16
      end = rest.end
    }
    const kind = (first >> 4) & 0x07
    if (kind === offsetDelta) {
      const { distance, end: start } = readDistance(head, end)
      if (distance === 0 || distance > offset) throw corrupt('the base of a delta is not in its pack')
      return { size, start: offset + start, base: offset - distance }
    }
    if (kind === refDelta) {
      const base = this.index.offsetOf(head.toString('hex', end, end + 20))
      if (base === undefined) throw corrupt('the base of a delta is not in its pack')
      return { size, start: offset + end + 20, base }
    }
    const type = types[kind]
    if (type === undefined) throw corrupt('an entry of a pack is of no known type')
    return { size, start: offset + end, type }
  }

  async #inflate({ start, size }: Entry): Promise<Buffer> {
    // What zlib takes at most for so many bytes, if blocks are not made needlessly small.
    for (let length = size + (size >> 8) + 64; ; length *= 4) {
      const data = length <= 2 * atOnce ? this.#bytes(start, length) : await this.#bytesInThread(start, length)
      const inflated = await inflateExactly(data, size)
      if (inflated !== undefined) return inflated
      if (data.length < length) throw corrupt('a pack is cut short')
    }
  }

  #bytes(at: number, length: number): Buffer {
    const data = Buffer.allocUnsafe(length)
    let descriptor = openFiles.get(this)
    if (descriptor === undefined) {
      descriptor = openSync(`${this.#path}.pack`, 'r')
      openFiles.set(this, descriptor)
    }
    return data.subarray(0, readSync(descriptor, data, 0, length, at))
  }

  /** By a file of its own: one that is shared may be closed meanwhile. */
  async #bytesInThread(at: number, length: number): Promise<Buffer> {
    const file = await open(`${this.#path}.pack`)
    try {
      const { size } = await file.stat()
      const data = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - at)))
      const { bytesRead } = await file.read(data, 0, data.length, at)
      return data.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }
}

/** How far back the base of a delta begins: 7 bits a byte, the most significant first, each continuation counted from one. */
function readDistance(head: Buffer, at: number): { distance: number; end: number } {
  let [distance, end] = [-1, at]
  for (;;) {
    const byte = head[end++]
    if (byte === undefined || distance > Number.MAX_SAFE_INTEGER / 256) throw corrupt('an offset is cut short')
    distance = (distance + 1) * 128 + (byte & 0x7f)
    if (byte < 0x80) return { distance, end }
  }
}

function corrupt(message: string): GitError {
  return new GitError('corrupt-object', message)
}

function tooLarge(maxBytes: number): GitError {
  return new GitError('object-too-large', `an object has more than ${maxBytes} bytes`)
}
