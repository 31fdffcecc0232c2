import { type ObjectInfo, type Oid, parentsOfCommit, treeOfCommit } from '../objects/object.ts'
import type { Repository } from '../repository.ts'
import { TreeObjects } from './tree-objects.ts'

/**
 * Every object that some objects lead to, themselves included. Of each commit only what differs from its first parent is looked at.
 * Files are not read, so one of them may be missing.
 * @param onDamage called for each object that cannot be read; without it, the error is thrown.
 * @throws {GitError} `missing-object`, `corrupt-object`
 */
export async function reachableFrom(
  repository: Repository,
  tips: Iterable<Oid>,
  onDamage?: (oid: Oid, error: unknown) => void,
): Promise<Set<Oid>> {
  const waiting = [...tips]

  const objectOf = async (oid: Oid): Promise<{ type?: ObjectInfo['type']; data: Buffer }> => {
    try {
      return await repository.read(oid)
    } catch (error) {
      if (onDamage === undefined) throw error
      onDamage(oid, error)
      return { data: Buffer.alloc(0) }
    }
  }
  const trees = new TreeObjects(async (oid) => (await objectOf(oid)).data)
  const seen = trees.ids

  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    if (seen.has(oid)) continue
    const { type, data } = await objectOf(oid)
    if (type === 'tree') {
      await trees.add(oid, undefined)
      continue
    }
    seen.add(oid)
    if (type === 'tag') waiting.push(data.toString('latin1', 'object '.length, 'object '.length + 40))
    if (type !== 'commit') continue
    const parents = parentsOfCommit(data)
    waiting.push(...parents)
    const [first] = parents
    const parent = first === undefined ? undefined : await objectOf(first)
    await trees.add(treeOfCommit(data), parent?.type === 'commit' ? treeOfCommit(parent.data) : undefined)
  }
  return seen
}
