import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { ObjectInfo, Oid } from './object.ts'
import { encodeIndex, encodeOffset, entryHeader } from './pack.ts'

/** An object of a pack, compressed: whole, or as a delta of one that was added before. `size` in bytes when it is not compressed. */
export type PackedObject = { size: number; body: Buffer } & ({ type: ObjectInfo['type'] } | { base: Oid })

/** Bytes that are gathered before they are written. */
const batchBytes = 1024 * 1024

/** Writes a pack (version 2 of gitformat-pack(5)) to a file, object by object, and remembers what its index needs. */
export class PackWriter {
  readonly #file: FileHandle
  readonly #hash = createHash('sha1')
  readonly #entries = new Map<Oid, { oid: Oid; offset: number; crc: number }>()
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #end = 0

  /** @param count how many objects there will be. */
  constructor(file: FileHandle, count: number) {
    this.#file = file
    const header = Buffer.alloc(12)
    header.write('PACK', 'latin1')
    header.writeUInt32BE(2, 4)
    header.writeUInt32BE(count, 8)
    this.#append(header)
  }

  has(oid: Oid): boolean {
    return this.#entries.has(oid)
  }

  async add(oid: Oid, object: PackedObject): Promise<void> {
    const head = this.#headOf(object)
    this.#entries.set(oid, { oid, offset: this.#end, crc: crc32(object.body, crc32(head)) })
    this.#append(head)
    this.#append(object.body)
    if (this.#waitingBytes > batchBytes) await this.#flush()
  }

  /** @returns the index of the pack, and its checksum, by which git names the files. */
  async finish(): Promise<{ name: string; index: Buffer }> {
    const checksum = this.#hash.digest()
    this.#waiting.push(checksum)
    await this.#flush()
    return { name: checksum.toString('hex'), index: encodeIndex([...this.#entries.values()], checksum) }
  }

  #headOf(object: PackedObject): Buffer {
    if ('type' in object) return entryHeader(object.type, object.size)
    const base = this.#entries.get(object.base)
    if (base === undefined) throw new Error('the base of a delta must be added before it')
    return Buffer.concat([entryHeader('offsetDelta', object.size), encodeOffset(this.#end - base.offset)])
  }

  #append(bytes: Buffer): void {
    this.#hash.update(bytes)
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    this.#end += bytes.length
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    await this.#file.writeFile(bytes)
  }
}
