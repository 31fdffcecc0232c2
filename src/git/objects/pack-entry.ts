import { corruptObject } from '../git-error.ts'
import type { ObjectInfo, Oid } from './object.ts'

/** Header of a pack's entry. `size`: bytes of the inflated content; `length`: bytes of the header. */
export type EntryHead = { size: number; length: number } & (
  | { type: ObjectInfo['type'] }
  /** Distance in bytes from the base of a delta to the entry. */
  | { distance: number }
  | { base: Oid }
)

/** Maximum bytes of an entry's head: a size of 8 bytes and the id of a base. */
export const longestHead = 32

const types: Readonly<Record<number, ObjectInfo['type']>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const offsetDelta = 6
const refDelta = 7

/** Reads the head of an entry at the start of some bytes; see gitformat-pack(5). @throws {GitError} `corrupt-object` */
export function decodeEntryHead(bytes: Buffer): EntryHead {
  const [first] = bytes
  if (first === undefined) throw corruptObject('a pack is cut short')
  const rest = first < 0x80 ? { value: 0, end: 1 } : readSize(bytes, 1)
  const size = (first & 0x0f) + rest.value * 16
  const kind = (first >> 4) & 0x07
  if (kind === offsetDelta) {
    const { distance, end } = readDistance(bytes, rest.end)
    return { size, length: end, distance }
  }
  if (kind === refDelta) {
    const end = rest.end + 20
    if (end > bytes.length) throw corruptObject('a pack is cut short')
    return { size, length: end, base: bytes.toString('hex', rest.end, end) }
  }
  const type = types[kind]
  if (type === undefined) throw corruptObject('an entry of a pack is of no known type')
  return { size, length: rest.end, type }
}

/** Decodes 7 bits per byte, most significant first, with each continuation offset by one. */
function readDistance(bytes: Buffer, at: number): { distance: number; end: number } {
  let [distance, end] = [-1, at]
  for (;;) {
    const byte = bytes[end++]
    if (byte === undefined || distance > Number.MAX_SAFE_INTEGER / 256) throw corruptObject('an offset is cut short')
    distance = (distance + 1) * 128 + (byte & 0x7f)
    if (byte < 0x80) break
  }
  if (distance === 0) throw corruptObject('a delta is its own base')
  return { distance, end }
}

/** Decodes 7 bits per byte, least significant first. Returns the number, and the offset after it. */
function readSize(data: Buffer, at: number): { value: number; end: number } {
  let [value, scale, end] = [0, 1, at]
  for (;;) {
    const byte = data[end++]
    if (byte === undefined || scale > Number.MAX_SAFE_INTEGER) throw corruptObject('a size is cut short')
    value += (byte & 0x7f) * scale
    scale *= 128
    if (byte < 0x80) return { value, end }
  }
}

/** Returns the size of a delta's result, in bytes. @throws {GitError} `corrupt-object` */
export function resultSize(delta: Buffer): number {
  return readSize(delta, readSize(delta, 0).end).value
}

const misfit = 'a delta does not fit its base'

/** Applies a delta of gitformat-pack(5) to its base. @throws {GitError} `corrupt-object` */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const from = readSize(delta, 0)
  const to = readSize(delta, from.end)
  if (from.value !== base.length) throw corruptObject(misfit)
  const result = Buffer.allocUnsafe(to.value)
  let [at, filled] = [to.end, 0]
  while (at < delta.length) {
    const instruction = delta[at++] ?? 0
    if (instruction >= 0x80) {
      let [start, length] = [0, 0]
      for (let byte = 0; byte < 4; byte++) if (instruction & (1 << byte)) start += (delta[at++] ?? 0) * 256 ** byte
      for (let byte = 0; byte < 3; byte++) if (instruction & (0x10 << byte)) length += (delta[at++] ?? 0) << (8 * byte)
      if (length === 0) length = 0x10000
      if (start + length > base.length || filled + length > result.length) throw corruptObject(misfit)
      base.copy(result, filled, start, start + length)
      filled += length
    } else {
      // The instruction zero is reserved.
      if (instruction === 0 || at + instruction > delta.length || filled + instruction > result.length)
        throw corruptObject(misfit)
      delta.copy(result, filled, at, at + instruction)
      at += instruction
      filled += instruction
    }
  }
  if (filled !== result.length) throw corruptObject(misfit)
  return result
}
