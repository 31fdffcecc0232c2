import { GitError } from '../git-error.ts'
import {
  differingEntries,
  folderMode,
  type GitObject,
  type ObjectInfo,
  type Oid,
  parentsOfCommit,
  submoduleMode,
  treeOfCommit,
} from '../objects/object.ts'
import type { ReadableObjects, Repository } from '../repository.ts'
import { CommitWalk, commitsBetween, splitHistories } from './history.ts'

/**
 * Returns every object reachable from some objects, including these. Visits only the differences between a commit and its first parent.
 * Does not read files, so a file may be missing.
 * @param onDamage called for each unreadable object; if absent, the error is thrown
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
  const { ids: seen, addTree } = collectTrees(async (oid) => (await objectOf(oid)).data)
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    if (seen.has(oid)) continue
    const { type, data } = await objectOf(oid)
    if (type === 'tree') {
      await addTree(oid, undefined)
      continue
    }
    seen.add(oid)
    if (type === 'tag') waiting.push(data.toString('latin1', 'object '.length, 'object '.length + 40))
    if (type !== 'commit') continue
    const parents = parentsOfCommit(data)
    waiting.push(...parents)
    const [first] = parents
    const parent = first === undefined ? undefined : await objectOf(first)
    await addTree(treeOfCommit(data), parent?.type === 'commit' ? treeOfCommit(parent.data) : undefined)
  }
  return seen
}

/**
 * Collects the ids of trees and their contents, except those that another tree has at the same places. Does not read files.
 * @returns `addTree`, whose second argument is the other tree, which must be collected too or known otherwise
 */
function collectTrees(readTree: (oid: Oid) => Promise<Buffer>) {
  const ids = new Set<Oid>()
  // Contains pairs: a tree that was added next to one tree may lack parts that are needed next to another.
  const compared = new Set<string>()
  const addTree = async (oid: Oid, before: Oid | undefined): Promise<void> => {
    const pair = `${oid} ${before}`
    if (oid === before || compared.has(pair)) return
    compared.add(pair)
    ids.add(oid)
    const old = before === undefined ? Buffer.alloc(0) : await readTree(before)
    for (const { was, is } of differingEntries(old, await readTree(oid))) {
      if (is === undefined || is.mode === submoduleMode) continue
      if (is.mode === folderMode) await addTree(is.oid, was?.mode === folderMode ? was.oid : undefined)
      // If a file differs only in its mode, its blob is already collected.
      else if (was?.oid !== is.oid) ids.add(is.oid)
    }
  }
  return { ids, addTree }
}

/** Number of further commits that are walked because of wrong clocks, as in git. */
const slop = 5

/**
 * Reads the objects that a remote lacks, given the commits that it has and needs. Never leaves out a missing object, but may include
 * objects that the remote has, as after a wrong clock.
 * @param haves commits of the remote; unknown ones are ignored
 */
export async function missingObjects(
  repository: Repository,
  wants: readonly Oid[],
  haves: readonly Oid[],
): Promise<Map<Oid, GitObject>> {
  const objects = new Map<Oid, GitObject>()
  for (const oid of await missingIds(repository, wants, haves)) objects.set(oid, await repository.read(oid))
  return objects
}

/** Returns the ids of {@link missingObjects}. Files are not read. */
export async function missingIds(
  repository: ReadableObjects,
  wants: readonly Oid[],
  haves: readonly Oid[],
): Promise<Set<Oid>> {
  const walk = new CommitWalk(repository)
  const { ids, addTree } = collectTrees(async (oid) => (await repository.read(oid)).data)
  const others: Oid[] = []
  for (const oid of haves) if ((await repository.find(oid))?.type === 'commit') others.push(oid)
  for (const one of wants) {
    const { onlyOne } = await splitHistories(walk, { one, others, slop })
    for (const { oid, tree, parents } of onlyOne) {
      ids.add(oid)
      await addTree(tree, await walk.treeBefore(parents))
    }
    others.push(one)
  }
  return ids
}

/**
 * Checks that every object exists that `to` adds to `from`: commits, folders and files.
 * @throws {GitError} `git-failed` for a commit, `missing-object`
 */
export async function requireConnected(repository: Repository, { from, to }: { from: Oid; to: Oid }): Promise<void> {
  const walk = new CommitWalk(repository)
  for (const { tree, parents } of await commitsBetween(walk, from, to)) {
    const files = new Set<Oid>()
    for await (const { is } of repository.compareTrees(await walk.treeBefore(parents), tree)) {
      if (is !== undefined && is.mode !== submoduleMode) files.add(is.oid)
    }
    const found = await repository.infos(files)
    const missing = [...files].find((oid) => !found.has(oid))
    if (missing !== undefined) throw new GitError('missing-object', `${missing} is not in the repository`)
  }
}
