import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { pauses } from '../../system/pauses.ts'
import { corruptObject, GitError } from '../git-error.ts'
import { inflateFrom } from './inflate.ts'
import { hashObject, type ObjectInfo, type ObjectType, type Oid } from './object.ts'
import { decodeEntryHead, longestHead } from './pack-entry.ts'
import { newBaseCache, PackReader } from './pack-reader.ts'
import { encodeIndex } from './pack-writer.ts'

const headerBytes = 12
const checksumBytes = 20
/** Maximum bytes of cached base objects. */
const maxBases = 64 * 1024 * 1024
/** Maximum bytes that are read at a time. */
const windowBytes = 1024 * 1024

type Entry = { offset: number; crc: number }
/** Delta of a pack. `base`: id or offset of the object that it is based on. */
type Delta = Entry & { base: Oid | number }

/**
 * Reads a whole pack and creates its index. Inflates each object, and applies each delta.
 * @param file the file at `path`, open for reading
 * @param options.maxBytes maximum bytes of an object
 * @param options.check called with every object; throws to reject it
 * @returns the index, and the pack's checksum, git's name for its files
 * @throws {GitError} `corrupt-object`, also for a pack that refers to objects outside of it; `object-too-large`
 */
export async function indexPack(
  path: string,
  file: FileHandle,
  { maxBytes, check = () => {} }: PackIndexing,
): Promise<{ name: string; index: Buffer }> {
  const offsets = new Map<Oid, number>()
  const entries: (Entry & { oid: Oid })[] = []
  const deltas: Delta[] = []
  const add = (oid: Oid, { offset, crc }: Entry) => {
    offsets.set(oid, offset)
    entries.push({ oid, offset, crc })
  }
  const { checksum, end } = await readChecksum(file)
  const bytes = windowOf(file)
  const header = await bytes(0, headerBytes)
  if (header.toString('latin1', 0, 4) !== 'PACK' || header.readUInt32BE(4) !== 2) throw corruptObject('it is no pack')
  const count = header.readUInt32BE(8)
  let offset = headerBytes
  for (let n = 0; n < count; n++) {
    const head = decodeEntryHead(await bytes(offset, longestHead))
    if (head.size > maxBytes) throw new GitError('object-too-large', `an object has more than ${maxBytes} bytes`)
    const start = offset + head.length
    const { inflated, length } = await inflateFrom((size) => bytes(start, size), head.size)
    const whole = await bytes(offset, head.length + length)
    const entry = { offset, crc: crc32(whole) }
    if ('type' in head) {
      check({ type: head.type, data: inflated })
      add(hashObject(head.type as ObjectType, inflated), entry)
    } else deltas.push({ ...entry, base: 'distance' in head ? offset - head.distance : head.base })
    offset += whole.length
  }
  if (offset !== end) throw corruptObject('a pack does not end where its objects do')
  await resolveDeltas(path, deltas, { whole: [...entries], offsetOf: (oid) => offsets.get(oid), add, maxBytes, check })
  return { name: checksum.toString('hex'), index: encodeIndex(entries, checksum) }
}

type Check = (object: { type: ObjectInfo['type']; data: Buffer }) => void
export type PackIndexing = { maxBytes: number; check?: Check }
type Resolving = Required<PackIndexing> & {
  whole: readonly (Entry & { oid: Oid })[]
  offsetOf(oid: Oid): number | undefined
  add(oid: Oid, entry: Entry): void
}

/** Applies each delta once, after its base, which may follow it in the pack. */
async function resolveDeltas(
  path: string,
  deltas: readonly Delta[],
  { whole, add, maxBytes, check, ...index }: Resolving,
) {
  const reader = new PackReader(path, index, newBaseCache(maxBases))
  const pause = pauses()
  const waiting = Map.groupBy(deltas, ({ base }) => base)
  const ready: Delta[] = []
  const release = (base: Oid | number) => {
    for (const delta of waiting.get(base) ?? []) ready.push(delta)
    waiting.delete(base)
  }
  try {
    for (const { oid, offset } of whole) for (const base of [oid, offset]) release(base)
    for (let delta = ready.pop(); delta !== undefined; delta = ready.pop()) {
      await pause()
      const object = await reader.read(delta.offset, maxBytes)
      check(object)
      const oid = hashObject(object.type, object.data)
      add(oid, delta)
      for (const base of [oid, delta.offset]) release(base)
    }
    if (waiting.size > 0) throw corruptObject('the base of a delta is not in its pack')
  } finally {
    reader.close()
  }
}

/** Returns a function that reads a file in large steps. It returns fewer bytes only at the end of the file. */
function windowOf(file: FileHandle): (at: number, length: number) => Promise<Buffer> {
  let [begin, held] = [0, Buffer.alloc(0)]
  return async (at, length) => {
    if (at < begin || at + length > begin + held.length) {
      const buffer = Buffer.allocUnsafe(Math.max(length, windowBytes))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
      ;[begin, held] = [at, buffer.subarray(0, bytesRead)]
    }
    return held.subarray(at - begin, at - begin + length)
  }
}

/** Reads the checksum at the end of a pack, at offset `end`. Throws unless it is the hash of the bytes before it. */
async function readChecksum(file: FileHandle): Promise<{ checksum: Buffer; end: number }> {
  const end = (await file.stat()).size - checksumBytes
  if (end < headerBytes) throw corruptObject('a pack is cut short')
  const hash = createHash('sha1')
  const bytes = windowOf(file)
  for (let at = 0; at < end; at += windowBytes) hash.update(await bytes(at, Math.min(windowBytes, end - at)))
  const checksum = Buffer.from(await bytes(end, checksumBytes))
  if (!hash.digest().equals(checksum)) throw corruptObject('a pack does not have the checksum that it says')
  return { checksum, end }
}
