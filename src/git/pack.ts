import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import type { GitObject, ObjectType, Oid } from './object.ts'

const typeCode = { commit: 1, tree: 2, blob: 3 } as const satisfies Record<ObjectType, number>

/** Size and type of a packed object: 4 bits of size beside the type, then 7 bits a byte, least significant first. */
function entryHeader(type: ObjectType, size: number): Buffer {
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
 * Encodes objects as a pack (version 2, no deltas) and its index (version 2), as gitformat-pack(5) defines them.
 * @returns both files' bytes, and `name`: the pack's checksum, by which git names the files.
 */
export function encodePack(objects: ReadonlyMap<Oid, GitObject>): { name: string; pack: Buffer; index: Buffer } {
  const header = Buffer.alloc(12)
  header.write('PACK', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(objects.size, 8)
  const parts: Buffer[] = [header]
  const packed: { oid: Oid; offset: number; crc: number }[] = []
  let offset = header.length
  for (const [oid, { type, data }] of objects) {
    const head = entryHeader(type, data.length)
    const body = deflateSync(data, { level: 1 })
    packed.push({ oid, offset, crc: crc32(body, crc32(head)) })
    parts.push(head, body)
    offset += head.length + body.length
  }
  const body = Buffer.concat(parts)
  const checksum = sha1(body)
  return { name: checksum.toString('hex'), pack: Buffer.concat([body, checksum]), index: encodeIndex(packed, checksum) }
}

function encodeIndex(packed: { oid: Oid; offset: number; crc: number }[], packChecksum: Buffer): Buffer {
  packed.sort((a, b) => (a.oid < b.oid ? -1 : 1))
  const count = packed.length
  const index = Buffer.alloc(8 + 256 * 4 + count * 28)
  index.writeUInt32BE(0xff744f63, 0)
  index.writeUInt32BE(2, 4)
  const names = 8 + 256 * 4
  const crcs = names + count * 20
  const offsets = crcs + count * 4
  const fanout = new Uint32Array(256)
  for (const [position, { oid, offset, crc }] of packed.entries()) {
    index.write(oid, names + position * 20, 'hex')
    index.writeUInt32BE(crc, crcs + position * 4)
    index.writeUInt32BE(offset, offsets + position * 4)
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
