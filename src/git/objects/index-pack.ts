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
/** Bytes of objects that others are deltas of. */
const maxBases = 64 * 1024 * 1024
/** Bytes that are read at once. */
const windowBytes = 1024 * 1024

type Entry = { offset: number; crc: number }
/** `base`: id or offset of the object that a delta is made from. */
type Delta = Entry & { base: Oid | number }

/**
 * Reads a pack from end to end, and makes its index; each object is inflated, and each delta applied.
 * @param file the file at `path`, open for reading
 * @param options.maxBytes of an object
 * @param options.check is called with every object, and throws for one that is not to be
 * @returns the index, and the pack's checksum, by which git names the files
 * @throws {GitError} `corrupt-object`, also for a pack that needs objects beside its own; `object-too-large`
 */
export async function indexPack(
  path: string,
  file: FileHandle,
  { maxBytes, check = () => {} }: PackIndexing,
): Promise<{ name: string; index: Buffer }> {
  const checksum = await checkedChecksum(file)
  const offsets = new Map<Oid, number>()
  const entries: (Entry & { oid: Oid })[] = []
  const add = (oid: Oid, entry: Entry) => {
    offsets.set(oid, entry.offset)
    entries.push({ oid, ...entry })
  }
  const deltas: Delta[] = []
  for await (const entry of scan(file, maxBytes, check)) {
    if ('base' in entry) deltas.push(entry)
    else add(entry.oid, entry)
  }
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

/** Makes each delta once, after its base, which may be behind it in the pack. */
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

/** The entries of a pack one after the other; of deltas nobody knows yet what they are. */
async function* scan(file: FileHandle, maxBytes: number, check: Check): AsyncGenerator<(Entry & { oid: Oid }) | Delta> {
  const bytes = windowOf(file)
  const header = await bytes(0, headerBytes)
  if (header.toString('latin1', 0, 4) !== 'PACK' || header.readUInt32BE(4) !== 2) throw corruptObject('it is no pack')
  const count = header.readUInt32BE(8)
  const end = (await file.stat()).size - checksumBytes
  let offset = headerBytes
  for (let entry = 0; entry < count; entry++) {
    const head = decodeEntryHead(await bytes(offset, longestHead))
    if (head.size > maxBytes) throw new GitError('object-too-large', `an object has more than ${maxBytes} bytes`)
    const start = offset + head.length
    const { inflated, length } = await inflateFrom((length) => bytes(start, length), head.size)
    const whole = await bytes(offset, head.length + length)
    if ('type' in head) check({ type: head.type, data: inflated })
    const entry = { offset, crc: crc32(whole) }
    if ('type' in head) yield { ...entry, oid: hashObject(head.type as ObjectType, inflated) }
    else yield { ...entry, base: 'distance' in head ? offset - head.distance : head.base }
    offset += whole.length
  }
  if (offset !== end) throw corruptObject('a pack does not end where its objects do')
}

type Window = (at: number, length: number) => Promise<Buffer>

/** Reads a file in large steps. Fewer bytes come only where it ends. */
function windowOf(file: FileHandle): Window {
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

/** Returns the checksum at the end of a pack. Throws unless it is the hash of the bytes before it. */
async function checkedChecksum(file: FileHandle): Promise<Buffer> {
  const end = (await file.stat()).size - checksumBytes
  if (end < headerBytes) throw corruptObject('a pack is cut short')
  const hash = createHash('sha1')
  const bytes = windowOf(file)
  for (let at = 0; at < end; at += windowBytes) hash.update(await bytes(at, Math.min(windowBytes, end - at)))
  const checksum = Buffer.from(await bytes(end, checksumBytes))
  if (!hash.digest().equals(checksum)) throw corruptObject('a pack does not have the checksum that it says')
  return checksum
}
