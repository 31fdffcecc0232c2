import { GitError } from '../git-error.ts'
import type { Oid } from './object.ts'

const magic = 0xff744f63
const version = 2
/** Bytes of the fan-out table, which has the number of objects up to each first byte of an id. */
const fanoutBytes = 256 * 4
const oidBytes = 20
/** Flag of an offset that is a position in the table of 8-byte offsets. */
const isLarge = 0x80000000

/** Offsets of the objects of a pack, from its index: versions 1 and 2 of gitformat-pack(5). */
export class PackIndex {
  readonly #data: Buffer
  /** True for version 1, which has no magic number, and each offset before its object's id. */
  readonly #isFirst: boolean
  /** Offset of the first object id, and the bytes from one id to the next. */
  readonly #oids: number
  readonly #stride: number
  readonly count: number

  /** Parses an index. @param data of the whole `.idx` file @throws {GitError} `corrupt-object` */
  constructor(data: Buffer) {
    this.#data = data
    this.#isFirst = data.length < 8 || data.readUInt32BE(0) !== magic
    if (!this.#isFirst && data.readUInt32BE(4) !== version) {
      throw new GitError('corrupt-object', 'an index of a pack is of an unknown version')
    }
    const header = fanoutBytes + (this.#isFirst ? 0 : 8)
    this.#oids = header + (this.#isFirst ? 4 : 0)
    this.#stride = oidBytes + (this.#isFirst ? 4 : 0)
    this.count = data.length < header ? 0 : data.readUInt32BE(header - 4)
    const least = header + this.count * (oidBytes + (this.#isFirst ? 4 : 4 + 4)) + 2 * oidBytes
    if (this.#isFirst ? data.length !== least : data.length < least)
      throw new GitError('corrupt-object', 'an index of a pack is cut short')
  }

  /** Returns every object with its offset in the pack, in the order of the pack. */
  entries(): { oid: Oid; offset: number }[] {
    const entries = Array.from({ length: this.count }, (_, position) => {
      const start = this.#oids + position * this.#stride
      return { oid: this.#data.toString('hex', start, start + oidBytes), offset: this.#offset(position) }
    })
    return entries.sort((a, b) => a.offset - b.offset)
  }

  offsetOf(oid: Oid): number | undefined {
    return this.offsetOfBytes(Buffer.from(oid, 'hex'))
  }

  /** Returns the offset of an object by the bytes of its id. */
  offsetOfBytes(wanted: Buffer): number | undefined {
    const first = wanted[0] ?? 0
    let low = first === 0 ? 0 : this.#upTo(first - 1)
    let high = this.#upTo(first)
    while (low < high) {
      const middle = (low + high) >>> 1
      const start = this.#oids + middle * this.#stride
      const order = this.#data.compare(wanted, 0, oidBytes, start, start + oidBytes)
      if (order === 0) return this.#offset(middle)
      if (order < 0) low = middle + 1
      else high = middle
    }
    return undefined
  }

  #upTo(firstByte: number): number {
    return Math.min(this.#data.readUInt32BE((this.#isFirst ? 0 : 8) + firstByte * 4), this.count)
  }

  #offset(position: number): number {
    if (this.#isFirst) return this.#data.readUInt32BE(this.#oids - 4 + position * this.#stride)
    const offsets = this.#oids + this.count * (oidBytes + 4)
    const offset = this.#data.readUInt32BE(offsets + position * 4)
    if (offset < isLarge) return offset
    const place = offsets + this.count * 4 + (offset - isLarge) * 8
    if (place + 8 > this.#data.length) throw new GitError('corrupt-object', 'an index of a pack is cut short')
    return Number(this.#data.readBigUInt64BE(place))
  }
}
