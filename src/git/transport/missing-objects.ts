import { GitError } from '../git-error.ts'
import { CommitWalk } from '../history/commit-walk.ts'
import { commitsBetween } from '../history/history.ts'
import { splitHistories } from '../history/split-histories.ts'
import { TreeObjects } from '../history/tree-objects.ts'
import { type GitObject, type Oid, parentsOfCommit, treeOfCommit } from '../objects/object.ts'
import { submoduleMode } from '../objects/tree.ts'
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
  const trees = new TreeObjects(async (oid) => (await repository.read(oid)).data)
  for (const oid of await missingCommits(repository, wants, haves)) {
    trees.ids.add(oid)
    const { data } = await repository.read(oid)
    const [parent] = parentsOfCommit(data)
    const before = parent === undefined ? undefined : treeOfCommit((await repository.read(parent)).data)
    await trees.add(treeOfCommit(data), before)
  }
  return trees.ids
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
 * Makes sure that nothing is missing of what `to` brings: its commits that `from` does not have, their folders and files.
 * @throws {GitError} `git-failed` for a commit, `missing-object`
 */
export async function requireConnected(repository: Repository, { from, to }: { from: Oid; to: Oid }): Promise<void> {
  const walk = new CommitWalk(repository)
  for (const { tree, parents } of await commitsBetween(walk, from, to)) {
    const [parent] = parents
    const before = parent === undefined ? undefined : (await walk.commit(parent)).tree
    const files = new Set<Oid>()
    for await (const { is } of repository.compareTrees(before, tree)) {
      if (is !== undefined && is.mode !== submoduleMode) files.add(is.oid)
    }
    const found = await repository.infos(files)
    const missing = [...files].find((oid) => !found.has(oid))
    if (missing !== undefined) throw new GitError('missing-object', `${missing} is not in the repository`)
  }
}
