import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { PackEntry } from '../../state/directory/repositories.ts'
import type { PackStore } from '../../state/packs/pack-store.ts'

/** Uploads a pack to the store under a new key. @param name its checksum @param path of its file */
export async function putPack(
  packs: Pick<PackStore, 'put'>,
  { kbId, name, path }: { kbId: string; name: string; path: string },
): Promise<PackEntry> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  const { size } = await stat(path)
  const key = `${kbId}/${name}-${randomBytes(4).toString('hex')}.pack`
  await packs.put(key, { path, size, sha256: hash.digest('hex') })
  return { key, name, size }
}
