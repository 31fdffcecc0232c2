import { readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncDirectory, writeSynced } from '../../files/durable-file.ts'
import { hasCode } from '../../files/error-code.ts'
import { holder, isHolderGone } from '../refs/holder.ts'
import type { GitObject, Oid } from './object.ts'
import { encodePack } from './pack.ts'

/** No `tmp_`, which `gc --prune=now` clears away, and no `.pack` or `.idx` at the end, which git would take for packs. */
export const temporaryPrefix = 'ganglion-tmp.'
const keptBy = 'ganglion '
/** What a `.keep` file holds, so that others can tell when its maker is gone. */
export const keptByUs = `${keptBy}${holder}\n`

/**
 * Writes objects as one pack of a bare repository. They are on the disk, and to be seen by every git, when this resolves.
 *
 * A `.keep` file stands beside the pack, as when native git receives one: until a ref leads to the objects, they are
 * garbage to any `gc --prune=now` or `repack -ad` that comes by.
 * @returns what takes the `.keep` file away, once the refs have moved.
 */
export async function writePack(gitDir: string, objects: ReadonlyMap<Oid, GitObject>): Promise<() => Promise<void>> {
  const { name, pack, index } = encodePack(objects)
  const folder = packFolder(gitDir)
  const final = join(folder, `pack-${name}`)
  const temporary = join(folder, `${temporaryPrefix}${holder}.${name}`)
  const release = () => remove(`${final}.keep`)
  try {
    await Promise.all([
      writeSynced(`${temporary}.pack.tmp`, pack, 0o444),
      writeSynced(`${temporary}.idx.tmp`, index, 0o444),
      writeFile(`${final}.keep`, keptByUs),
    ])
    await publishPack({ pack: `${temporary}.pack.tmp`, index: `${temporary}.idx.tmp` }, final)
  } catch (error) {
    await Promise.allSettled([remove(`${temporary}.pack.tmp`), remove(`${temporary}.idx.tmp`), release()])
    throw error
  }
  return release
}

/**
 * Gives a pack and its index, which are on the disk, the names by which git finds them, durably: the pack first.
 * @param final without an extension
 */
export async function publishPack({ pack, index }: { pack: string; index: string }, final: string): Promise<void> {
  await rename(pack, `${final}.pack`)
  await rename(index, `${final}.idx`)
  await syncDirectory(dirname(final))
}

/** Removes what crashed writers left behind: packs half written, and `.keep` files of packs that nobody waits for. */
export async function clearAbandonedPacks(gitDir: string): Promise<void> {
  const folder = packFolder(gitDir)
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if (name.startsWith(temporaryPrefix) && isHolderGone(name.slice(temporaryPrefix.length))) await remove(path)
    if (!name.endsWith('.keep')) continue
    const keeper = await readFile(path, 'utf8').catch(() => '')
    if (keeper.startsWith(keptBy) && isHolderGone(keeper.slice(keptBy.length).trim())) await remove(path)
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
