import { createHash, hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { deflateAll } from './deflate-all.ts'
import type { Delta, GitObject, ObjectInfo, ObjectType, Oid } from './object.ts'

const typeCode = { commit: 1, tree: 2, blob: 3, tag: 4, offsetDelta: 6 } as const

/** Maximum length of a chain of deltas, as in git: each step is one more object to read. */
const deepestChain = 50
/** Minimum bytes that are collected before they are written. */
const batchBytes = 1024 * 1024

/** Object as a pack stores it: whole, or as a delta of an object that was added before. `size`: bytes of `body` before compression. */
type PackedObject = { size: number; body: Buffer } & ({ type: ObjectInfo['type'] } | { base: Oid })
type IndexEntry = { oid: Oid; offset: number; crc: number }

/** Writes a pack (version 2 of gitformat-pack(5)) to a file, object by object, and collects the entries of its index. */
export class PackWriter {
  readonly #file: Pick<FileHandle, 'writeFile'>
  readonly #hash = createHash('sha1')
  readonly #entries = new Map<Oid, IndexEntry>()
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #end = 0

  /** Writes the header. @param count number of objects that will be added */
  constructor(file: Pick<FileHandle, 'writeFile'>, count: number) {
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

  /** Writes the checksum. @returns the index of the pack, and its checksum, git's name for its files */
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

/**
 * Encodes objects as a pack and its index. An object with a similar one before it is stored as a delta.
 * @returns the bytes of both files, and `name`: the pack's checksum, git's name for its files
 */
export async function encodePack(
  objects: ReadonlyMap<Oid, GitObject>,
): Promise<{ name: string; pack: Buffer; index: Buffer }> {
  const plains = new Map<Oid, PlainEntry>()
  for (const [oid, object] of objects) plains.set(oid, plainEntry(object, plains))
  const bodies = await deflateAll([...plains.values()].map(({ plain }) => plain))
  const parts: Buffer[] = []
  const writer = new PackWriter({ writeFile: async (bytes) => void parts.push(bytes as Buffer) }, objects.size)
  let at = 0
  for (const [oid, { plain, ...kind }] of plains) {
    await writer.add(oid, { ...kind, size: plain.length, body: bodies[at++] ?? plain })
  }
  const { name, index } = await writer.finish()
  return { name, pack: Buffer.concat(parts), index }
}

/** Uncompressed data of an object: all of it, or a delta of `base`. `whole`: bytes of the object. */
type PlainEntry = { plain: Buffer; whole: number; depth: number } & ({ type: ObjectType } | { base: Oid })

function plainEntry({ type, data, from }: GitObject, before: ReadonlyMap<Oid, PlainEntry>): PlainEntry {
  const [base, whole] = [from && before.get(from.base), data.length]
  if (from === undefined || base === undefined || base.depth >= deepestChain)
    return { type, plain: data, whole, depth: 0 }
  return { base: from.base, plain: encodeDelta(from.delta, base.whole, whole), whole, depth: base.depth + 1 }
}

/** Encodes type and size of a packed object: 4 bits of the size next to the type, then 7 bits per byte, least significant first. */
function entryHeader(type: keyof typeof typeCode, size: number): Buffer {
  const bytes: number[] = []
  let byte = (typeCode[type] << 4) | (size & 0x0f)
  let rest = Math.floor(size / 16)
  while (rest > 0) {
    bytes.push(byte | 0x80)
    byte = rest & 0x7f
    rest = Math.floor(rest / 128)
  }
  bytes.push(byte)
  return Buffer.from(bytes)
}

/** Encodes the distance to a delta's base: 7 bits per byte, most significant first, with each continuation offset by one. */
function encodeOffset(distance: number): Buffer {
  const bytes = [distance & 0x7f]
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift(0x80 | (--rest & 0x7f))
  return Buffer.from(bytes)
}

function encodeDelta({ at, removed, insert }: Delta, baseSize: number, size: number): Buffer {
  const tail = at + removed
  return Buffer.concat([
    encodeSize(baseSize),
    encodeSize(size),
    ...copies(0, at),
    ...inserts(insert),
    ...copies(tail, baseSize - tail),
  ])
}

function encodeSize(size: number): Buffer {
  const bytes: number[] = []
  let rest = size
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push(0x80 | (rest & 0x7f))
  return Buffer.from([...bytes, rest])
}

const longestCopy = 0xffff

/** Yields instructions that copy a range of the base. */
function* copies(from: number, length: number): Generator<Buffer> {
  for (let done = 0; done < length; done += longestCopy) {
    const instruction = Buffer.alloc(7)
    instruction[0] = 0x80 | 0x0f | 0x30
    instruction.writeUInt32LE(from + done, 1)
    instruction.writeUInt16LE(Math.min(longestCopy, length - done), 5)
    yield instruction
  }
}

const longestInsert = 0x7f

/** Yields instructions that insert bytes. */
function* inserts(bytes: Buffer): Generator<Buffer> {
  for (let done = 0; done < bytes.length; done += longestInsert) {
    const part = bytes.subarray(done, done + longestInsert)
    yield Buffer.concat([Buffer.from([part.length]), part])
  }
}

/** Maximum offset in the table of 4-byte offsets. Larger ones are in a separate table of 8 bytes each. */
const largestOffset = 0x7fffffff

/** Encodes the index of a pack (version 2). Sorts the entries by id. */
export function encodeIndex(entries: IndexEntry[], packChecksum: Buffer): Buffer {
  entries.sort((a, b) => (a.oid < b.oid ? -1 : 1))
  const count = entries.length
  const large = entries.filter(({ offset }) => offset > largestOffset).map(({ offset }) => offset)
  const index = Buffer.alloc(8 + 256 * 4 + count * 28 + large.length * 8)
  index.writeUInt32BE(0xff744f63, 0)
  index.writeUInt32BE(2, 4)
  const names = 8 + 256 * 4
  const crcs = names + count * 20
  const offsets = crcs + count * 4
  const largeOffsets = offsets + count * 4
  const fanout = new Uint32Array(256)
  let largeSeen = 0
  for (const [position, { oid, offset, crc }] of entries.entries()) {
    index.write(oid, names + position * 20, 'hex')
    index.writeUInt32BE(crc, crcs + position * 4)
    if (offset > largestOffset) {
      index.writeBigUInt64BE(BigInt(offset), largeOffsets + largeSeen * 8)
      index.writeUInt32BE(largestOffset + 1 + largeSeen++, offsets + position * 4)
    } else index.writeUInt32BE(offset, offsets + position * 4)
    const first = index[names + position * 20] ?? 0
    fanout[first] = (fanout[first] ?? 0) + 1
  }
  let total = 0
  for (const [byte, inBucket] of fanout.entries()) {
    total += inBucket
    index.writeUInt32BE(total, 8 + byte * 4)
  }
  const body = Buffer.concat([index, packChecksum])
  return Buffer.concat([body, hash('sha1', body, 'buffer')])
}
