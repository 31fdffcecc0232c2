import { GitError } from '../git-error.ts'
import { readSize } from './delta.ts'
import type { ObjectInfo, Oid } from './object.ts'

/** Header of a pack's entry: the inflated size of its content, and the length of the header. */
export type EntryHead = { size: number; length: number } & (
  | { type: ObjectInfo['type'] }
  /** Bytes from the base of the delta to the entry. */
  | { distance: number }
  | { base: Oid }
)

/** A size of 8 bytes and a base's id: no head of an entry is longer. */
export const longestHead = 32

const types: Readonly<Record<number, ObjectInfo['type']>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const offsetDelta = 6
const refDelta = 7

/** Reads the head of an entry at the start of some bytes; see gitformat-pack(5). @throws {GitError} `corrupt-object` */
export function decodeEntryHead(bytes: Buffer): EntryHead {
  const [first] = bytes
  if (first === undefined) throw corrupt('a pack is cut short')
  const rest = first < 0x80 ? { value: 0, end: 1 } : readSize(bytes, 1)
  const size = (first & 0x0f) + rest.value * 16
  const kind = (first >> 4) & 0x07
  if (kind === offsetDelta) {
    const { distance, end } = readDistance(bytes, rest.end)
    return { size, length: end, distance }
  }
  if (kind === refDelta) {
    const end = rest.end + 20
    if (end > bytes.length) throw corrupt('a pack is cut short')
    return { size, length: end, base: bytes.toString('hex', rest.end, end) }
  }
  const type = types[kind]
  if (type === undefined) throw corrupt('an entry of a pack is of no known type')
  return { size, length: rest.end, type }
}

/** 7 bits a byte, the most significant first, each continuation counted from one. */
function readDistance(bytes: Buffer, at: number): { distance: number; end: number } {
  let [distance, end] = [-1, at]
  for (;;) {
    const byte = bytes[end++]
    if (byte === undefined || distance > Number.MAX_SAFE_INTEGER / 256) throw corrupt('an offset is cut short')
    distance = (distance + 1) * 128 + (byte & 0x7f)
    if (byte < 0x80) break
  }
  if (distance === 0) throw corrupt('a delta is its own base')
  return { distance, end }
}

function corrupt(message: string): GitError {
  return new GitError('corrupt-object', message)
}
