import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeSynced } from '../../files/durable-file.ts'
import { holder } from '../refs/holder.ts'
import { copyPack } from './pack-copy.ts'
import { publishPack, removePack, temporaryPrefix } from './pack-files.ts'
import { PackIndex } from './pack-index.ts'
import { newBaseCache, PackReader } from './pack-reader.ts'
import { PackWriter } from './pack-writer.ts'

/** Files beside a pack that say that it is not for us: it is being written, or git keeps it for something else. */
const others = ['.keep', '.promisor', '.mtimes']
/** Bytes of objects that others are deltas of. */
const maxBases = 16 * 1024 * 1024
/** How many times as large as all smaller ones together a pack is that is left alone. */
const factor = 2

type CountedPack = { path: string; index: PackIndex }

/**
 * Rolls small packs up into one, geometrically as `git repack --geometric=2` does, so that the large ones are left alone. Objects are
 * copied as they are stored, reachable or not. A pack that comes meanwhile is not touched.
 * @throws the signal's reason {@link GitError} `corrupt-object`: then nothing has changed
 */
export async function consolidatePacks(gitDir: string, signal: AbortSignal): Promise<void> {
  const folder = join(gitDir, 'objects', 'pack')
  const packs = smallPacks(folder)
  if (packs.length < 2) return
  const wanted = new Set(packs.flatMap(({ index }) => index.entries().map(({ oid }) => oid)))
  const temporary = join(folder, `${temporaryPrefix}${holder}.${randomBytes(6).toString('hex')}`)
  try {
    const { name, index } = await copyAll(packs, { path: `${temporary}.pack.tmp`, wanted, signal })
    const final = join(folder, `pack-${name}`)
    await writeSynced(`${temporary}.idx.tmp`, index, 0o444)
    await publishPack({ pack: `${temporary}.pack.tmp`, index: `${temporary}.idx.tmp` }, final)
    for (const { path } of packs) if (path !== final) await removePack(path)
  } finally {
    await rm(`${temporary}.pack.tmp`, { force: true })
    await rm(`${temporary}.idx.tmp`, { force: true })
  }
}

async function copyAll(
  packs: readonly CountedPack[],
  { path, wanted, signal }: { path: string; wanted: ReadonlySet<string>; signal: AbortSignal },
): Promise<{ name: string; index: Buffer }> {
  const file = await open(path, 'wx', 0o444)
  try {
    const writer = new PackWriter(file, wanted.size)
    for (const { path: pack, index } of packs) {
      const reader = new PackReader(`${pack}.pack`, index, newBaseCache(maxBases))
      await copyPack(writer, { index, reader }, { isWanted: (oid) => wanted.has(oid), signal })
      reader.close()
    }
    const finished = await writer.finish()
    await file.sync()
    return finished
  } finally {
    await file.close()
  }
}

function smallPacks(folder: string): CountedPack[] {
  const names = new Set(readdirSync(folder))
  // A table of several packs names them: only who made it may remove one.
  if (names.has('multi-pack-index')) return []
  const paths = [...names].flatMap((name) => (name.endsWith('.idx') ? [name.slice(0, -'.idx'.length)] : []))
  const ours = paths.filter((name) => names.has(`${name}.pack`) && !others.some((other) => names.has(name + other)))
  const packs = ours.map((name) => ({
    path: join(folder, name),
    index: new PackIndex(readFileSync(join(folder, `${name}.idx`))),
  }))
  packs.sort((a, b) => a.index.count - b.index.count)
  let [taken, total] = [0, 0]
  for (const [at, { index }] of packs.entries()) {
    if (total > 0 && index.count < factor * total) taken = at + 1
    total += index.count
  }
  return packs.slice(0, taken)
}
