import type { Oid } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { blobAtPath, seqIdAtPath } from '../projection/file-queries.ts'
import type { Projection } from '../projection/projection.ts'

type Sql = Projection['read']

/** Returns the seqId of a changed file at the base of the push, which may be behind main. */
export async function seqIdBefore(
  sql: Sql,
  { path, before }: { path: string; before?: Oid | undefined },
  readText: (oid: Oid) => Promise<string>,
): Promise<string | undefined> {
  if (before === undefined || !isNeuronPath(path)) return undefined
  if (blobAtPath(sql, path) === before) return seqIdAtPath(sql, path)
  return parseNeuronFile(await readText(before)).fields.seqId
}

/** True if a file of main already had its seqId at an earlier commit. */
export async function wasHolder(
  sql: Sql,
  { path, seqId }: { path: string; seqId: string },
  { repository, base }: { repository: Repository; base: Oid },
): Promise<boolean> {
  const before = await repository.blobAt(base, path)
  return (await seqIdBefore(sql, { path, before }, (oid) => repository.readTextOnce(oid))) === seqId
}
