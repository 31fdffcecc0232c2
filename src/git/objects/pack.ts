import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { deflateAll } from './deflate-all.ts'
import type { Delta, GitObject, ObjectType, Oid } from './object.ts'

const typeCode = { commit: 1, tree: 2, blob: 3, tag: 4, offsetDelta: 6 } as const satisfies Record<
  ObjectType | 'tag' | 'offsetDelta',
  number
>

/** Maximum depth of a chain of deltas, as in git: each step is one more object to read. */
const deepestChain = 50

/** Size and type of a packed object: 4 bits of size beside the type, then 7 bits a byte, least significant first. */
export function entryHeader(type: keyof typeof typeCode, size: number): Buffer {
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

function sha1(data: Buffer): Buffer {
  return createHash('sha1').update(data).digest()
}

/**
 * Encodes objects as a pack (version 2) and its index (version 2), as gitformat-pack(5) defines them. An object that is
 * said to differ little from one before it is stored as that difference.
 * @returns both files' bytes, and `name`: the pack's checksum, by which git names the files.
 */
export async function encodePack(
  objects: ReadonlyMap<Oid, GitObject>,
): Promise<{ name: string; pack: Buffer; index: Buffer }> {
  const entries = new Map<Oid, Entry>()
  for (const [oid, object] of objects) entries.set(oid, plainEntry(object, entries))
  const bodies = await deflateAll([...entries.values()].map(({ plain }) => plain))
  const header = Buffer.alloc(12)
  header.write('PACK', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(objects.size, 8)
  const parts: Buffer[] = [header]
  const packed = new Map<Oid, Packed>()
  let offset = header.length
  for (const [oid, { type, plain, base }] of entries) {
    const from = base === undefined ? undefined : packed.get(base)
    const size = entryHeader(from === undefined ? type : 'offsetDelta', plain.length)
    const head = from === undefined ? size : Buffer.concat([size, encodeOffset(offset - from.offset)])
    const body = bodies[packed.size] ?? plain
    packed.set(oid, { oid, offset, crc: crc32(body, crc32(head)) })
    parts.push(head, body)
    offset += head.length + body.length
  }
  const body = Buffer.concat(parts)
  const checksum = sha1(body)
  const index = encodeIndex([...packed.values()], checksum)
  return { name: checksum.toString('hex'), pack: Buffer.concat([body, checksum]), index }
}

/** Data of an object to compress: the whole, or a delta to its `base`. `size` of the object, in bytes. */
type Entry = { type: ObjectType; plain: Buffer; base: Oid | undefined; size: number; depth: number }

function plainEntry({ type, data, from }: GitObject, before: ReadonlyMap<Oid, Entry>): Entry {
  const [base, size] = [from && before.get(from.base), data.length]
  if (from === undefined || base === undefined || base.depth >= deepestChain) {
    return { type, plain: data, base: undefined, size, depth: 0 }
  }
  return { type, plain: encodeDelta(from.delta, base.size, size), base: from.base, size, depth: base.depth + 1 }
}

type Packed = { oid: Oid; offset: number; crc: number }

/** Encodes the distance to a delta's base: 7 bits a byte, most significant first, each continuation counted from one. */
export function encodeOffset(distance: number): Buffer {
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

/** Instructions that take a range of the base. */
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

/** Instructions that add bytes. */
function* inserts(bytes: Buffer): Generator<Buffer> {
  for (let done = 0; done < bytes.length; done += longestInsert) {
    const part = bytes.subarray(done, done + longestInsert)
    yield Buffer.concat([Buffer.from([part.length]), part])
  }
}

/** An offset above this stands in a table of its own, with 8 bytes. */
const largestOffset = 0x7fffffff

/** The index of a pack (version 2). Sorts the entries by id. */
export function encodeIndex(entries: Pick<Packed, 'oid' | 'offset' | 'crc'>[], packChecksum: Buffer): Buffer {
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
  return Buffer.concat([body, sha1(body)])
}
