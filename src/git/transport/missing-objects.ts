import { committerOfCommit, type GitObject, type Oid, parentsOfCommit, treeOfCommit } from '../objects/object.ts'
import type { TreeEntry } from '../objects/tree.ts'
import type { Repository } from '../repository.ts'

type Waiting = { oid: Oid; at: number }

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

/**
 * The commits that lead to some and not to others, newest first, by the dates of the commits as git's own `rev-list` finds them: what
 * is known spreads to parents until nothing else is left to look at.
 */
async function missingCommits(repository: Repository, wants: readonly Oid[], haves: readonly Oid[]): Promise<Set<Oid>> {
  const missing = new Set<Oid>()
  const known = new Set<Oid>()
  const seen = new Set<Oid>()
  const waiting: Waiting[] = []
  const enqueue = async (oid: Oid) => {
    if (seen.has(oid)) return
    const commit = await repository.find(oid)
    if (commit?.type !== 'commit') return
    seen.add(oid)
    const at = committerOfCommit(commit.data).at.getTime()
    waiting.splice(placeOf(waiting, at), 0, { oid, at })
  }
  for (const oid of haves) {
    known.add(oid)
    await enqueue(oid)
  }
  for (const oid of wants) await enqueue(oid)
  while (waiting.some(({ oid }) => !known.has(oid))) {
    const next = takeNewest(waiting, known)
    if (next === undefined) break
    const isKnown = known.has(next.oid)
    if (!isKnown) missing.add(next.oid)
    for (const parent of parentsOfCommit((await repository.read(next.oid)).data)) {
      if (isKnown) {
        known.add(parent)
        missing.delete(parent)
      }
      await enqueue(parent)
    }
  }
  return missing
}

/** Of one second the known come first: they may lead to the others. */
function takeNewest(waiting: Waiting[], known: ReadonlySet<Oid>): Waiting | undefined {
  const newest = waiting.at(-1)?.at
  const at = waiting.findLastIndex((commit) => commit.at === newest && known.has(commit.oid))
  const [taken] = waiting.splice(at < 0 ? waiting.length - 1 : at, 1)
  return taken
}

/** Where a time belongs in a list that is sorted, oldest first. */
function placeOf(waiting: readonly Waiting[], at: number): number {
  const after = waiting.findIndex((other) => other.at > at)
  return after < 0 ? waiting.length : after
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
