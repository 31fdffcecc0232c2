import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { missingIds } from '../../git/history/reachable.ts'
import { addWhole } from '../../git/objects/consolidate-packs.ts'
import type { Oid } from '../../git/objects/object.ts'
import { type StagedPack, stagedPack, stagePack, stageWrittenPack } from '../../git/objects/pack-files.ts'
import { encodePack } from '../../git/objects/pack-writer.ts'
import type { Publication } from '../../git/ref-store.ts'
import { Repository } from '../../git/repository.ts'
import { StagedRepository } from '../../git/staged-repository.ts'
import type { PackEntry } from '../../state/directory/repositories.ts'
import type { PackStore } from '../../state/s3/s3-packs.ts'
import { PackCache } from './pack-cache.ts'

/** Refs of a repository, and the pack with everything reachable from them; none if there is no ref. */
export type PutRepository = { kbId: string; refs: ReadonlyMap<string, Oid>; packs: PackEntry[] }

/**
 * Uploads everything reachable from some refs of a repository to the store, as one pack that no row names yet.
 * @throws {GitError} `missing-object`, `corrupt-object`; errors of the store
 */
export async function putRepository(
  packs: PackStore,
  { kbId, gitDir, refs: names }: { kbId: string; gitDir: string; refs: readonly string[] },
): Promise<PutRepository> {
  using repository = new Repository(gitDir)
  await using staged = stagedPack(gitDir, randomBytes(6).toString('hex'))
  const refs = new Map<string, Oid>()
  for (const ref of names) {
    const oid = await repository.readRef(ref)
    if (oid !== undefined) refs.set(ref, oid)
  }
  if (refs.size === 0) return { kbId, refs, packs: [] }
  const moves = [...refs].map(([ref, to]) => ({ ref, from: undefined, to }))
  const publication = { objects: new Map(), heads: new Map(), moves }
  const name = await stageNewPack(staged, repository, publication, new PackCache(gitDir, packs))
  return { kbId, refs, packs: [await putPack(packs, { kbId, name, path: staged.pack })] }
}

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

/**
 * Stages one pack with all objects that a publication needs and the store lacks: its own, and those of an earlier push or fetch on this
 * machine.
 * @returns the pack's checksum
 */
export async function stageNewPack(
  staged: StagedPack,
  repository: Repository,
  { objects, moves }: Publication,
  cache: PackCache,
): Promise<string> {
  const reachable = await missingIds(
    new StagedRepository(repository, objects),
    moves.map(({ to }) => to),
    moves.flatMap(({ from }) => from ?? []),
  )
  for (const oid of objects.keys()) reachable.delete(oid)
  const others = await cache.unstored(reachable)
  if (others.size > 0) {
    return stageWrittenPack(staged, objects.size + others.size, async (writer) => {
      for (const [oid, object] of objects) await addWhole(writer, oid, object)
      await repository.copyTo(writer, others)
    })
  }
  const { name, ...bytes } = await encodePack(objects)
  await stagePack(staged, bytes)
  return name
}
