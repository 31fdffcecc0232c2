import { CommitWalk } from '../history/commit-walk.ts'
import { splitHistories } from '../history/split-histories.ts'
import { type GitObject, type Oid, parentsOfCommit, treeOfCommit } from '../objects/object.ts'
import { folderMode, submoduleMode } from '../objects/tree.ts'
import { differingEntries } from '../objects/tree-diff.ts'
import type { ReadableObjects, Repository } from '../repository.ts'

/** Commits that are walked further for clocks that went wrong, as git does. */
const slop = 5

/**
 * The objects that a remote lacks which has some commits, and is to have others. It may hold some that the remote has, as where a
 * clock went wrong; it never lacks one.
 * @param haves commits; those that are not here do not matter
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

/** The ids of {@link missingObjects}. No file is read. */
export async function missingIds(
  repository: ReadableObjects,
  wants: readonly Oid[],
  haves: readonly Oid[],
): Promise<Set<Oid>> {
  const ids = new Set<Oid>()
  const compared = new Set<string>()
  for (const oid of await missingCommits(repository, wants, haves)) {
    ids.add(oid)
    const { data } = await repository.read(oid)
    const [parent] = parentsOfCommit(data)
    const before = parent === undefined ? undefined : treeOfCommit((await repository.read(parent)).data)
    await addTree(repository, { oid: treeOfCommit(data), before }, { ids, compared })
  }
  return ids
}

/** The commits that lead to some and not to others. */
async function missingCommits(
  repository: ReadableObjects,
  wants: readonly Oid[],
  haves: readonly Oid[],
): Promise<Set<Oid>> {
  const walk = new CommitWalk(repository)
  const others: Oid[] = []
  for (const oid of haves) if ((await repository.find(oid))?.type === 'commit') others.push(oid)
  const missing = new Set<Oid>()
  for (const one of wants) {
    const { onlyOne } = await splitHistories(walk, { one, others, slop })
    for (const { oid } of onlyOne) missing.add(oid)
    others.push(one)
  }
  return missing
}

/**
 * Adds a tree and what lies below it, without what another tree has at the same places.
 * @param found.compared pairs of trees that were: a tree that comes back is not all there because of what was added for it before
 */
async function addTree(
  repository: ReadableObjects,
  { oid, before }: { oid: Oid; before: Oid | undefined },
  found: { ids: Set<Oid>; compared: Set<string> },
): Promise<void> {
  const pair = `${oid} ${before}`
  if (oid === before || found.compared.has(pair)) return
  found.compared.add(pair)
  found.ids.add(oid)
  const tree = await repository.read(oid)
  const old = before === undefined ? Buffer.alloc(0) : (await repository.read(before)).data
  for (const { was, is } of differingEntries(old, tree.data)) {
    if (is === undefined || is.mode === submoduleMode) continue
    // One that has only another mode is there.
    if (is.mode !== folderMode && was?.oid !== is.oid) found.ids.add(is.oid)
    const other = was?.mode === folderMode ? was.oid : undefined
    if (is.mode === folderMode) await addTree(repository, { oid: is.oid, before: other }, found)
  }
}
