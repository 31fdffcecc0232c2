import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

/** An object of a pack, as its header announces it and as it is. `base` makes it a delta. */
export type PackedObject = { type: number; size: number; data: Buffer; base?: string }

/** `PACK`, version 2, the objects as they are, and the checksum; `count` is what its header says. */
export function hostilePack(objects: readonly PackedObject[], count = objects.length): Buffer {
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1')
  header.writeUInt32BE(count, 8)
  const entries = objects.flatMap(({ type, size, data, base }) => [
    objectHeader(type, size),
    Buffer.from(base ?? '', 'hex'),
    deflateSync(data),
  ])
  const pack = Buffer.concat([header, ...entries])
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()])
}

export function blob(content: Buffer | string): PackedObject {
  const data = Buffer.from(content)
  return { type: 3, size: data.length, data }
}

/** A delta that repeats its base, a blob with these bytes, until its result has this size. */
export function expandingDelta(base: Buffer, size: number): PackedObject {
  const copies: Buffer[] = []
  for (let left = size; left > 0; left -= base.length) {
    const length = Math.min(left, base.length)
    copies.push(Buffer.from([0xf0, length & 255, (length >> 8) & 255, (length >> 16) & 255]))
  }
  const data = Buffer.concat([varint(base.length), varint(size), ...copies])
  const oid = createHash('sha1').update(`blob ${base.length}\0`).update(base).digest('hex')
  return { type: 7, size: data.length, data, base: oid }
}

function objectHeader(type: number, size: number): Buffer {
  const low = (type << 4) | (size & 15)
  return size < 16 ? Buffer.from([low]) : Buffer.concat([Buffer.from([low | 0x80]), varint(Math.floor(size / 16))])
}

function varint(number: number): Buffer {
  const bytes: number[] = []
  for (let left = number; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80)
  return Buffer.from([...bytes, Math.floor(number / 128 ** bytes.length)])
}
