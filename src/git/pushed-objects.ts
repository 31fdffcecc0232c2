import { setImmediate as nextTurn } from 'node:timers/promises'
import { CommitWalk, commitsBetween } from './history/history.ts'
import { folderMode, type GitTreeEntry, type Oid, parentsOfCommit, submoduleMode, Tree } from './objects/object.ts'
import type { Repository, TreeChange } from './repository.ts'

/** Range of a push: everything in the history of `to` that is not in that of `from`. */
export type PushRange = { from: Oid; to: Oid }

/** Thrown for a push whose check would take too much time or memory. The message is for the pusher. */
export class PushTooLarge extends Error {}

const mb = 1024 * 1024
const maxCommits = 30_000
const maxCommitBytes = mb
const maxParents = 64
const maxTreeBytes = 4 * mb
const maxTreeBytesInAll = 512 * mb
/** Maximum files and folders that the commits of a push change, counted for every commit. */
const maxEntries = 100_000
/** Maximum entries of folders that are compared with earlier ones: some seconds of work. */
const maxCompared = 10_000_000
/** Maximum entries of cached decoded folders, since a commit is compared with the next. */
const maxRemembered = 300_000
const maxChangedFiles = 20_000

/**
 * Returns the commits of a push, children before parents.
 * @throws {PushTooLarge}; {@link GitError} `git-failed` if one is missing
 */
export async function pushedCommits(repository: Repository, { from, to }: PushRange): Promise<Oid[]> {
  const commits = await commitsBetween(new CommitWalk(repository), from, to)
  if (commits.length > maxCommits) throw new PushTooLarge(`The push has more than ${maxCommits} commits.`)
  const long = commits.find(({ size }) => size > maxCommitBytes)
  if (long !== undefined) throw new PushTooLarge(`The message of commit ${long.oid.slice(0, 7)} is too long.`)
  return commits.map(({ oid }) => oid).reverse()
}

/** Folder of a pushed commit that differs from that folder in all of its parents. */
export type PushedFolder = {
  commit: Oid
  /** Path in git's bytes: empty for the root, else with a trailing slash. */
  prefix: string
  tree: Tree
  /** Entries that no parent has in the same place. */
  changed: readonly GitTreeEntry[]
  /** Names that at least one parent lacks. */
  added: ReadonlySet<string>
  /** Bytes of the changed files. */
  sizes: ReadonlyMap<Oid, number>
}

/**
 * Visits every folder that the commits of a push change, even if a later commit reverts the change.
 * @param visit returns the changed folders in a folder to visit next
 * @param isWhole true to visit every folder of the commits, as if they had no parents
 * @throws {PushTooLarge} if a tree expands to too many files, a commit has too many parents, or the work is too much
 */
export async function walkPushedTrees(
  repository: Repository,
  commits: readonly Oid[],
  visit: (folder: PushedFolder) => readonly GitTreeEntry[],
  { isWhole = false } = {},
): Promise<void> {
  let [entries, compared] = [0, 0]
  const readFolder = folderReader(repository)
  for (const commit of commits) {
    const { data } = await repository.read(commit)
    const parents = isWhole ? [] : parentsOfCommit(data)
    checkParents(commit, parents)
    const roots = await Promise.all(parents.map((parent) => repository.treeOf(parent)))
    const waiting = [{ prefix: '', oid: await repository.treeOf(commit), before: roots }]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { prefix, oid, before } = next
      if (before.includes(oid)) continue
      const { tree } = await readFolder(oid)
      const olds = await Promise.all(before.map(async (old) => (await readFolder(old)).byName))
      const changed = tree.entries.filter((entry) => !olds.some((old) => isSame(old.get(entry.name), entry)))
      const isEverywhere = ({ name }: GitTreeEntry) =>
        parents.length > 0 && olds.length === parents.length && olds.every((old) => old.has(name))
      const added = new Set(tree.entries.filter((entry) => !isEverywhere(entry)).map(({ name }) => name))
      entries += changed.length
      compared += olds.reduce((sum, old) => sum + old.size + 1, tree.entries.length)
      if (entries > maxEntries) {
        throw new PushTooLarge(`The tree would hold too many files: the push changes more than ${maxEntries}.`)
      }
      if (compared > maxCompared) throw new PushTooLarge('The push changes too large folders too often.')
      const sizes = await sizesOf(repository, changed)
      for (const { name, oid: folder } of visit({ commit, prefix, tree, changed, added, sizes })) {
        const oldFolders = olds.map((old) => old.get(name)).filter((old) => old?.mode === folderMode)
        waiting.push({ prefix: `${prefix}${name}/`, oid: folder, before: oldFolders.flatMap((old) => old?.oid ?? []) })
      }
      // Most reads come from memory, so this gives other work a turn.
      await nextTurn()
    }
  }
}

async function sizesOf(repository: Repository, entries: readonly GitTreeEntry[]): Promise<Map<Oid, number>> {
  const files = entries.filter(({ mode }) => mode !== folderMode && mode !== submoduleMode)
  const infos = await repository.infos(files.map(({ oid }) => oid))
  return new Map([...infos].map(([oid, { size }]) => [oid, size]))
}

/** Returns every file that differs between two commits of a checked push. @throws {PushTooLarge} */
export async function pushedChanges(repository: Repository, from: Oid, to: Oid): Promise<TreeChange[]> {
  const changes: TreeChange[] = []
  for await (const change of repository.diffTrees(await repository.treeOf(from), await repository.treeOf(to))) {
    changes.push(change)
    if (changes.length > maxChangedFiles) {
      throw new PushTooLarge(`The push changes more than ${maxChangedFiles} files: push it in parts.`)
    }
  }
  return changes
}

type Folder = { tree: Tree; byName: ReadonlyMap<string, GitTreeEntry> }

function folderReader(repository: Repository): (oid: Oid) => Promise<Folder> {
  const remembered = new Map<Oid, Folder>()
  let [size, bytes] = [0, 0]
  return async (oid) => {
    const known = remembered.get(oid)
    if (known !== undefined) return known
    const { data } = await repository.read(oid)
    bytes += data.length
    if (data.length > maxTreeBytes) throw new PushTooLarge('A folder of the push holds too many files.')
    if (bytes > maxTreeBytesInAll) throw new PushTooLarge('The push has too many and too large folders.')
    const tree = Tree.decode(data)
    const folder = { tree, byName: new Map(tree.entries.map((entry) => [entry.name, entry])) }
    remembered.set(oid, folder)
    size += tree.entries.length
    for (const [oldest, { tree: old }] of remembered) {
      if (size <= maxRemembered) break
      remembered.delete(oldest)
      size -= old.entries.length
    }
    return folder
  }
}

/** Checks the parents of a commit. Git itself creates no commit that names a parent twice. @throws {PushTooLarge} */
function checkParents(commit: Oid, parents: readonly Oid[]): void {
  const short = commit.slice(0, 7)
  if (new Set(parents).size < parents.length) throw new PushTooLarge(`Commit ${short} names a parent twice.`)
  if (parents.length > maxParents) {
    throw new PushTooLarge(`Commit ${short} has ${parents.length} parents; ${maxParents} are allowed.`)
  }
}

function isSame(old: GitTreeEntry | undefined, now: GitTreeEntry): boolean {
  return old?.oid === now.oid && old.mode === now.mode
}
