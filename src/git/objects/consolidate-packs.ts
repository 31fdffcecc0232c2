import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { pauses } from '../../system/pauses.ts'
import { corruptObject } from '../git-error.ts'
import type { GitObject, Oid } from './object.ts'
import { packPath, publishPack, removePack, type StagedPack, stagedPack, stageWrittenPack } from './pack-files.ts'
import { PackIndex } from './pack-index.ts'
import { newBaseCache, PackReader } from './pack-reader.ts'
import type { PackWriter } from './pack-writer.ts'

const compress = promisify<Buffer, Buffer>(deflate)
/** Maximum bytes of an object that is stored whole because the base of its delta is not copied. */
const maxBytes = 1024 * 1024 * 1024

export type Pack = { reader: PackReader; index: PackIndex }

/**
 * Copies objects of a pack as stored, without compressing again. Deltas stay deltas if their bases are copied, too.
 * @param wanted objects to copy, unless the writer has them already
 * @throws {GitError} `corrupt-object`; the signal's reason
 */
export async function copyPack(
  writer: PackWriter,
  { reader, index }: Pack,
  wanted: ReadonlySet<Oid>,
  signal?: AbortSignal,
): Promise<void> {
  const entries = index.entries()
  const places = new Map(
    entries.map(({ oid, offset }, at) => [offset, { oid, end: entries[at + 1]?.offset ?? reader.end }]),
  )
  const pause = pauses()
  const copy = async (offset: number): Promise<void> => {
    const { oid, end } = places.get(offset) ?? {}
    if (oid === undefined || end === undefined) throw corruptObject('a delta has no base')
    if (writer.has(oid)) return
    const raw = await reader.raw(offset, end)
    if (!('base' in raw)) return writer.add(oid, raw)
    const base = places.get(raw.base)?.oid
    if (base === undefined || !wanted.has(base)) return addWhole(writer, oid, await reader.read(offset, maxBytes))
    // A base that is given by its id may follow its delta in the pack.
    await copy(raw.base)
    await writer.add(oid, { size: raw.size, body: raw.body, base })
  }
  for (const { oid, offset } of entries) {
    signal?.throwIfAborted()
    if (wanted.has(oid)) await copy(offset)
    await pause()
  }
}

/** Compresses an object and adds it to a pack. */
export async function addWhole(writer: PackWriter, oid: Oid, { type, data }: GitObject): Promise<void> {
  await writer.add(oid, { type, size: data.length, body: await compress(data) })
}

/** Extensions of files that exclude a pack: it is being written, or git manages it. */
const others = ['.keep', '.promisor', '.mtimes']
/** Maximum bytes of cached base objects. */
const maxBases = 16 * 1024 * 1024
/** Minimum ratio between a pack and all smaller ones together for the pack to stay as it is. */
const factor = 2

/** Pack with its index. `path`: without an extension. */
type CountedPack = { path: string; index: PackIndex }

/**
 * Merges small packs into one, geometrically as `git repack --geometric=2`, leaving the large ones alone. Copies objects as stored,
 * reachable or not. Packs that arrive meanwhile are not touched.
 * @throws the signal's reason; {@link GitError} `corrupt-object`: then nothing has changed
 */
export async function consolidatePacks(gitDir: string, signal: AbortSignal): Promise<void> {
  const packs = smallPacks(ownPacks(join(gitDir, 'objects', 'pack')))
  if (packs.length < 2) return
  await using staged = stagedPack(gitDir, randomBytes(6).toString('hex'))
  const final = packPath(gitDir, await mergePacks(packs, staged, signal))
  await publishPack(staged, final)
  for (const { path } of packs) if (path !== final) await removePack(path)
}

/**
 * Stages one pack with all objects of several packs.
 * @returns its checksum
 * @throws the signal's reason; {@link GitError} `corrupt-object`
 */
export async function mergePacks(
  packs: readonly CountedPack[],
  staged: StagedPack,
  signal: AbortSignal,
): Promise<string> {
  const wanted = new Set(packs.flatMap(({ index }) => index.entries().map(({ oid }) => oid)))
  return stageWrittenPack(staged, wanted.size, async (writer) => {
    for (const { path, index } of packs) {
      const reader = new PackReader(`${path}.pack`, index, newBaseCache(maxBases))
      await copyPack(writer, { index, reader }, wanted, signal)
      reader.close()
    }
  })
}

/** Returns the packs to merge. @param paths without an extension */
export function smallPacks(paths: readonly string[]): CountedPack[] {
  const packs = paths.map((path) => ({ path, index: new PackIndex(readFileSync(`${path}.idx`)) }))
  packs.sort((a, b) => a.index.count - b.index.count)
  let [taken, total] = [0, 0]
  for (const [at, { index }] of packs.entries()) {
    if (total > 0 && index.count < factor * total) taken = at + 1
    total += index.count
  }
  return packs.slice(0, taken)
}

/** Returns the packs of a folder, except those kept for another purpose. */
function ownPacks(folder: string): string[] {
  const names = new Set(readdirSync(folder))
  // A multi-pack index refers to packs by name, so only its owner may remove them.
  if (names.has('multi-pack-index')) return []
  const paths = [...names].flatMap((name) => (name.endsWith('.idx') ? [name.slice(0, -'.idx'.length)] : []))
  const ours = paths.filter((name) => names.has(`${name}.pack`) && !others.some((other) => names.has(name + other)))
  return ours.map((name) => join(folder, name))
}
