import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createInflate } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { pauses } from '../../system/pauses.ts'
import { corruptObject, GitError } from '../git-error.ts'
import { atOnce, inflateBeginning, inflateFrom } from './inflate.ts'
import type { GitObject, ObjectInfo, ObjectType } from './object.ts'
import { applyDelta, decodeEntryHead, longestHead, resultSize } from './pack-entry.ts'
import type { PackIndex } from './pack-index.ts'

const longestChain = 10_000
/** Open files of all repositories. */
const openFiles = new LRUCache<PackReader, number>({ max: 256, dispose: (descriptor) => closeSync(descriptor) })

/** Maximum bytes of the two sizes at the start of a delta, of its base and its result. */
const bothSizes = 20
/** Bytes of an entry to inflate that are read first. Most entries need no second read. */
const firstRead = 4096

/**
 * Entry of a pack. `size`: inflated size; `start`: offset of its compressed content; `begun`: bytes read so far; `base`: offset of a
 * delta's base.
 */
type Entry = { size: number; start: number; begun: Buffer } & (
  | { type: ObjectInfo['type']; base?: undefined }
  | { type?: undefined; base: number }
)
/** Compressed content of an entry, and its inflated size; `base`: offset of the base of a delta. */
export type RawEntry = { size: number; body: Buffer } & ({ type: ObjectInfo['type'] } | { base: number })
/** Cache of bases of deltas, by pack and offset. */
export type BaseCache = LRUCache<string, { type: ObjectInfo['type']; data: Buffer }>

/** Creates a cache. @param maxBytes of all cached objects */
export function newBaseCache(maxBytes: number): BaseCache {
  return new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ data }) => data.length + 512 })
}

/** Reads objects of one pack (gitformat-pack(5)), which never changes. Methods throw ENOENT if it was removed meanwhile. */
export class PackReader {
  readonly #path: string
  readonly #index: Pick<PackIndex, 'offsetOf'>
  readonly #bases: BaseCache

  /** Opens a pack. @param path of the file */
  constructor(path: string, index: Pick<PackIndex, 'offsetOf'>, bases: BaseCache) {
    this.#path = path
    this.#index = index
    this.#bases = bases
  }

  async read(offset: number, maxBytes: number): Promise<GitObject> {
    const deltas: { offset: number; data: Buffer }[] = []
    const pause = pauses()
    let at = offset
    let found = this.#bases.get(this.#key(at))
    while (found === undefined) {
      await pause()
      const entry = this.#entryAt(at, firstRead)
      if (entry.size > maxBytes) throw tooLarge(maxBytes)
      const data = await this.#inflate(entry)
      if (entry.base === undefined) {
        found = { type: entry.type, data }
        if (deltas.length > 0) this.#bases.set(this.#key(at), found)
      } else {
        if (resultSize(data) > maxBytes) throw tooLarge(maxBytes)
        if (deltas.push({ offset: at, data }) > longestChain) throw corruptObject('a chain of deltas has no end')
        at = entry.base
        found = this.#bases.get(this.#key(at))
      }
    }
    for (const delta of deltas.reverse()) {
      await pause()
      found = { type: found.type, data: applyDelta(found.data, delta.data) }
      this.#bases.set(this.#key(delta.offset), found)
    }
    return { type: found.type as ObjectType, data: found.data }
  }

  /** Returns type and size, without reading the object. @throws {GitError} `corrupt-object` */
  info(offset: number): ObjectInfo {
    let entry = this.#entryAt(offset)
    const size = entry.base === undefined ? entry.size : this.#resultSize(entry)
    for (let depth = 0; entry.base !== undefined; depth++) {
      if (depth > longestChain) throw corruptObject('a chain of deltas has no end')
      entry = this.#entryAt(entry.base)
    }
    return { type: entry.type, size }
  }

  /** Streams the inflated bytes of an object that is no delta; undefined for a delta. */
  stream(offset: number): AsyncIterable<Buffer> | undefined {
    const entry = this.#entryAt(offset)
    if (entry.base !== undefined) return undefined
    const source = createReadStream(this.#path, { start: entry.start })
    // The inflater stops at the end of the object, and ignores further bytes.
    return pipeline(source, createInflate(), () => {})
  }

  /** Returns an entry as stored. @param end offset of the next entry @throws {GitError} `corrupt-object` */
  async raw(offset: number, end: number): Promise<RawEntry> {
    const { start, size, type, base } = this.#entryAt(offset)
    const body = await this.#body(start, end - start)
    return base === undefined ? { size, body, type } : { size, body, base }
  }

  /** Offset after the last entry, where the checksum of the pack begins. */
  get end(): number {
    return statSync(this.#path).size - 20
  }

  close(): void {
    openFiles.delete(this)
  }

  #key(offset: number): string {
    return `${this.#path}:${offset}`
  }

  #entryAt(offset: number, length = longestHead): Entry {
    const data = this.#bytes(offset, length)
    const head = decodeEntryHead(data)
    const known = { size: head.size, start: offset + head.length, begun: data.subarray(head.length) }
    if ('type' in head) return { ...known, type: head.type }
    const base = 'distance' in head ? offset - head.distance : this.#index.offsetOf(head.base)
    if (base === undefined || base < 0) throw corruptObject('the base of a delta is not in its pack')
    return { ...known, base }
  }

  async #inflate({ start, size, begun }: Entry): Promise<Buffer> {
    const read = async (length: number) => (length <= begun.length ? begun : this.#body(start, length))
    return (await inflateFrom(read, size)).inflated
  }

  async #body(at: number, length: number): Promise<Buffer> {
    return length <= 2 * atOnce ? this.#bytes(at, length) : this.#bytesInThread(at, length)
  }

  /** Reads the size of a delta's result. zlib may have hundreds of bytes of codes before its first byte. */
  #resultSize({ start, size }: Entry): number {
    for (let length = 64; ; length *= 4) {
      const data = this.#bytes(start, length)
      const beginning = inflateBeginning(data)
      if (beginning.length >= Math.min(size, bothSizes) || data.length < length) return resultSize(beginning)
    }
  }

  #bytes(at: number, length: number): Buffer {
    const data = Buffer.allocUnsafe(length)
    let descriptor = openFiles.get(this)
    if (descriptor === undefined) {
      descriptor = openSync(this.#path, 'r')
      openFiles.set(this, descriptor)
    }
    return data.subarray(0, readSync(descriptor, data, 0, length, at))
  }

  /** Reads with a separate file handle, since a shared one may be closed meanwhile. */
  async #bytesInThread(at: number, length: number): Promise<Buffer> {
    await using file = await open(this.#path)
    const { size } = await file.stat()
    const data = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - at)))
    const { bytesRead } = await file.read(data, 0, data.length, at)
    return data.subarray(0, bytesRead)
  }
}

function tooLarge(maxBytes: number): GitError {
  return new GitError('object-too-large', `an object has more than ${maxBytes} bytes`)
}
