import { CommitWalk } from '../history/commit-walk.ts'
import { paintHistories } from '../history/paint.ts'
import { type GitObject, type Oid, parentsOfCommit, treeOfCommit } from '../objects/object.ts'
import type { TreeEntry } from '../objects/tree.ts'
import type { Repository } from '../repository.ts'

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
  for (const oid of await missingCommits(repository, wants, haves)) {
    const commit = await repository.read(oid)
    objects.set(oid, commit)
    const [parent] = parentsOfCommit(commit.data)
    const before = parent === undefined ? undefined : await repository.treeOf(parent)
    await addTree(repository, treeOfCommit(commit.data), before, objects)
  }
  return objects
}

/** The commits that lead to some and not to others. */
async function missingCommits(repository: Repository, wants: readonly Oid[], haves: readonly Oid[]): Promise<Set<Oid>> {
  const walk = new CommitWalk(repository)
  const others: Oid[] = []
  for (const oid of haves) if ((await repository.find(oid))?.type === 'commit') others.push(oid)
  const missing = new Set<Oid>()
  for (const one of wants) {
    const { onlyOne } = await paintHistories(walk, { one, others, slop })
    for (const { oid } of onlyOne) missing.add(oid)
    others.push(one)
  }
  return missing
}

/** Adds a tree and what lies below it, without what another tree has at the same places. */
async function addTree(
  repository: Repository,
  oid: Oid,
  before: Oid | undefined,
  objects: Map<Oid, GitObject>,
): Promise<void> {
  if (oid === before || objects.has(oid)) return
  objects.set(oid, await repository.read(oid))
  const old = before === undefined ? undefined : await repository.readTree(before)
  for (const entry of (await repository.readTree(oid)).entries) {
    const was = old?.get(entry.name)
    if (was?.oid === entry.oid || objects.has(entry.oid) || isSubmodule(entry)) continue
    if (entry.mode !== '40000') objects.set(entry.oid, await repository.read(entry.oid))
    else await addTree(repository, entry.oid, was?.mode === '40000' ? was.oid : undefined, objects)
  }
}

function isSubmodule({ mode }: TreeEntry): boolean {
  return mode === '160000'
}
