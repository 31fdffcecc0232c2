import { open } from 'node:fs/promises'
import type { GitObject, Oid } from '../../git/objects/object.ts'
import { encodePack } from '../../git/objects/pack.ts'
import { addWhole } from '../../git/objects/pack-copy.ts'
import { type StagedPack, stagePack } from '../../git/objects/pack-files.ts'
import { PackWriter } from '../../git/objects/pack-writer.ts'
import type { Publication } from '../../git/refs/ref-store.ts'
import type { ReadableObjects, Repository } from '../../git/repository.ts'
import { missingIds } from '../../git/transport/missing-objects.ts'
import { writeSynced } from '../../system/durable-file.ts'
import type { PackCache } from './pack-cache.ts'

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
    withStaged(repository, objects),
    moves.map(({ to }) => to),
    moves.flatMap(({ from }) => from ?? []),
  )
  for (const oid of objects.keys()) reachable.delete(oid)
  const others = await cache.unstored(reachable)
  if (others.size > 0) return copyToPack(staged, repository, objects, others)
  const { name, ...bytes } = await encodePack(objects)
  await stagePack(staged, bytes)
  return name
}

async function copyToPack(
  staged: StagedPack,
  repository: Repository,
  objects: ReadonlyMap<Oid, GitObject>,
  others: ReadonlySet<Oid>,
): Promise<string> {
  const file = await open(staged.pack, 'wx', 0o444)
  try {
    const writer = new PackWriter(file, objects.size + others.size)
    for (const [oid, object] of objects) await addWhole(writer, oid, object)
    await repository.copyTo(writer, others)
    const { name, index } = await writer.finish()
    await Promise.all([file.sync(), writeSynced(staged.index, index, 0o444)])
    return name
  } finally {
    await file.close()
  }
}

function withStaged(repository: Repository, objects: ReadonlyMap<Oid, GitObject>): ReadableObjects {
  return {
    gitDir: repository.gitDir,
    find: async (oid) => objects.get(oid) ?? repository.find(oid),
    read: async (oid) => objects.get(oid) ?? repository.read(oid),
  }
}
