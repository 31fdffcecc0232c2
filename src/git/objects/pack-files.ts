import { type FileHandle, open, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncDirectory, writeSynced } from '../../system/durable-file.ts'
import { hasCode } from '../../system/error-code.ts'
import { isProcessGone, processToken } from '../process-token.ts'
import { indexPack, type PackIndexing } from './index-pack.ts'
import type { GitObject, Oid } from './object.ts'
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
