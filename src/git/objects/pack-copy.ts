import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { pauses } from '../../system/pauses.ts'
import { GitError } from '../git-error.ts'
import type { GitObject, Oid } from './object.ts'
import type { PackIndex } from './pack-index.ts'
import type { PackReader } from './pack-reader.ts'
import type { PackWriter } from './pack-writer.ts'

const compress = promisify<Buffer, Buffer>(deflate)
/** No object of a pack that is copied is read that has more bytes. */
const maxBytes = 1024 * 1024 * 1024

export type Pack = { reader: PackReader; index: PackIndex }

/**
 * Copies objects of a pack as they are stored: nothing is compressed again, and deltas stay deltas as long as their bases come along.
 * @param isWanted whether to copy an object; those that the writer has already are left out
 * @throws {GitError} `corrupt-object`; the signal's reason
 */
export async function copyPack(
  writer: PackWriter,
  { reader, index }: Pack,
  { isWanted, signal }: { isWanted: (oid: Oid) => boolean; signal?: AbortSignal | undefined },
): Promise<void> {
  const entries = index.entries()
  const places = new Map(
    entries.map(({ oid, offset }, at) => [offset, { oid, end: entries[at + 1]?.offset ?? reader.end }]),
  )
  const pause = pauses()
  const copy = async (offset: number): Promise<void> => {
    const { oid, end } = places.get(offset) ?? {}
    if (oid === undefined || end === undefined) throw new GitError('corrupt-object', 'a delta has no base')
    if (writer.has(oid)) return
    const raw = await reader.raw(offset, end)
    if (!('base' in raw)) return writer.add(oid, raw)
    const base = places.get(raw.base)?.oid
    if (base === undefined || !isWanted(base)) return addWhole(writer, oid, await reader.read(offset, maxBytes))
    // A base that is named by its id may stand behind its delta.
    await copy(raw.base)
    await writer.add(oid, { size: raw.size, body: raw.body, base })
  }
  for (const { oid, offset } of entries) {
    signal?.throwIfAborted()
    if (isWanted(oid)) await copy(offset)
    await pause()
  }
}

/** Adds an object that is in no pack. */
export async function addWhole(writer: PackWriter, oid: Oid, { type, data }: GitObject): Promise<void> {
  await writer.add(oid, { type, size: data.length, body: await compress(data) })
}
