import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { type FileHandle, open, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { syncDirectory, writeSynced } from '../../system/durable-file.ts'
import { hasCode } from '../../system/error-code.ts'
import { pauses } from '../../system/pauses.ts'
import { corruptObject } from '../git-error.ts'
import { isProcessGone, processToken } from '../process-token.ts'
import { indexPack, type PackIndexing } from './index-pack.ts'
import type { GitObject, Oid } from './object.ts'
import { PackIndex } from './pack-index.ts'
import { newBaseCache, PackReader } from './pack-reader.ts'
import { encodePack, PackWriter } from './pack-writer.ts'

/** Prefix of temporary files. Not `tmp_`, which `gc --prune=now` removes, and not a suffix `.pack` or `.idx`, which git would read. */
const temporaryPrefix = 'ganglion-tmp.'
/** Extensions of a pack's files. The index is first: without it, readers ignore the others. */
const extensions = ['.idx', '.pack', '.rev', '.bitmap']
const keptBy = 'ganglion '
/** Content of a `.keep` file, from which other processes can tell whether its creator is still running. */
export const keptByUs = `${keptBy}${processToken}\n`

/**
 * Writes objects as one pack of a bare repository. When this resolves, they are on disk and visible to every git.
 *
 * A `.keep` file protects the pack, as when native git receives one: until refs lead to the objects, a `gc --prune=now` or `repack -ad`
 * would remove them.
 * @returns a function that removes the `.keep` file, to be called once the refs have moved
 */
export async function writePack(gitDir: string, objects: ReadonlyMap<Oid, GitObject>): Promise<() => Promise<void>> {
  const { name, ...bytes } = await encodePack(objects)
  const [staged, final] = [stagedPack(gitDir, name), packPath(gitDir, name)]
  const release = () => remove(`${final}.keep`)
  try {
    await Promise.all([stagePack(staged, bytes), writeFile(`${final}.keep`, keptByUs)])
    await publishPack(staged, final)
  } catch (error) {
    await Promise.allSettled([staged[Symbol.asyncDispose](), release()])
    throw error
  }
  return release
}

/** Absolute paths of a pack and its index while git cannot find them. */
export type StagedPack = { pack: string; index: string }

/**
 * Returns the paths of a pack to stage. Their disposal removes what was not published.
 * @param name unique among the packs that are staged at the same time
 */
export function stagedPack(gitDir: string, name: string): StagedPack & AsyncDisposable {
  const temporary = join(packFolder(gitDir), `${temporaryPrefix}${processToken}.${name}`)
  const [pack, index] = [`${temporary}.pack.tmp`, `${temporary}.idx.tmp`]
  const discard = async () => void (await Promise.all([remove(pack), remove(index)]))
  return { pack, index, [Symbol.asyncDispose]: discard }
}

/** Writes a pack and its index where git does not find them. They are on disk when this resolves. */
export async function stagePack(staged: StagedPack, { pack, index }: { pack: Buffer; index: Buffer }): Promise<void> {
  await Promise.all([writeSynced(staged.pack, pack, 0o444), writeSynced(staged.index, index, 0o444)])
}

/** Stages a pack that `fill` writes object by object. It is on disk when this resolves. @returns its checksum */
export async function stageWrittenPack(
  staged: StagedPack,
  count: number,
  fill: (writer: PackWriter) => Promise<void>,
): Promise<string> {
  return stage(staged, async (file) => {
    const writer = new PackWriter(file, count)
    await fill(writer)
    return writer.finish()
  })
}

/** Stages a received pack and indexes it; see {@link indexPack}. It is on disk when this resolves. @returns its checksum */
export async function stageReceivedPack(
  staged: StagedPack,
  bytes: AsyncIterable<Buffer>,
  options: PackIndexing,
): Promise<string> {
  return stage(staged, async (file) => {
    for await (const chunk of bytes) await file.writeFile(chunk)
    return indexPack(staged.pack, file, options)
  })
}

async function stage(
  staged: StagedPack,
  write: (file: FileHandle) => Promise<{ name: string; index: Buffer }>,
): Promise<string> {
  await using file = await open(staged.pack, 'wx+', 0o444)
  const { name, index } = await write(file)
  await Promise.all([file.sync(), writeSynced(staged.index, index, 0o444)])
  return name
}

/** Returns the path of a pack, without an extension. */
export function packPath(gitDir: string, name: string): string {
  return join(packFolder(gitDir), `pack-${name}`)
}

/**
 * Renames a staged pack and its index durably, the pack first, so that git finds them.
 * @param final path without an extension
 */
export async function publishPack({ pack, index }: StagedPack, final: string): Promise<void> {
  await rename(pack, `${final}.pack`)
  await rename(index, `${final}.idx`)
  await syncDirectory(dirname(final))
}

/** Removes a pack. @param path without an extension */
export async function removePack(path: string): Promise<void> {
  for (const extension of extensions) await remove(path + extension)
}

/** Removes leftovers of crashed writers: incomplete packs, and obsolete `.keep` files. */
export async function clearAbandonedPacks(gitDir: string): Promise<void> {
  const folder = packFolder(gitDir)
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if (name.startsWith(temporaryPrefix) && isProcessGone(name.slice(temporaryPrefix.length))) await remove(path)
    if (!name.endsWith('.keep')) continue
    const keeper = await readFile(path, 'utf8').catch(() => '')
    if (keeper.startsWith(keptBy) && isProcessGone(keeper.slice(keptBy.length).trim())) await remove(path)
  }
}

function packFolder(gitDir: string): string {
  return join(gitDir, 'objects', 'pack')
}

async function remove(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
}

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
