import { createInterface } from 'node:readline'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { GitError } from './git-error.ts'
import { spawnGit } from './git-process.ts'
import { isOid, type Oid } from './objects/object.ts'
import type { Tree, TreeEntry } from './objects/tree.ts'
import { quarantineEnvironment } from './quarantine.ts'
import type { Repository, TreeChange } from './repository.ts'
import type { RunningProgram } from './spawner/running-program.ts'

/** What a push brings: everything in the history of `to` that is not in that of `from`. */
export type PushRange = { from: Oid; to: Oid }

/** A push that would take too much time or memory to look into, or that was made to. The message is for the pusher. */
export class PushTooLarge extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PushTooLarge'
  }
}

const mb = 1024 * 1024
const maxObjects = 100_000
const maxCommitBytes = mb
const maxParents = 64
const maxTreeBytes = 4 * mb
const maxTreeBytesInAll = 512 * mb
/** Files and folders that the commits of a push change, each counted for every commit. */
const maxEntries = 100_000
/** Entries of folders that are compared with those before them: some seconds of work. */
const maxCompared = 10_000_000
/** Entries of decoded folders that are kept, since a commit is compared with the next. */
const maxRemembered = 300_000
const maxChangedFiles = 20_000

/**
 * The commits of a push, newest first, and the bytes of its blobs that are larger than `maxBlobBytes`. Takes time by the number
 * of its objects and reads none of them.
 * @throws {PushTooLarge} {@link GitError} `git-failed` where an object is missing
 */
export async function readPushedObjects(
  gitDir: string,
  { from, to }: PushRange,
  { quarantine, maxBlobBytes }: { quarantine: string | undefined; maxBlobBytes: number },
): Promise<{ commits: Oid[]; largeBlobs: ReadonlyMap<Oid, number> }> {
  // Anything but an object id could be an option or a revision expression.
  if (!isOid(from) || !isOid(to)) throw new GitError('missing-object', 'not an object id')
  const environment = quarantineEnvironment(gitDir, quarantine)
  const format = '--batch-check=%(objectname) %(objecttype) %(objectsize)'
  const [list, sizes] = await bothOrNone(
    spawnGit(gitDir, ['rev-list', '--objects', '--no-object-names', to, `^${from}`], { environment }),
    spawnGit(gitDir, ['cat-file', '--buffer', format], { environment, hasInput: true }),
  )
  const ends = Promise.all([list.ended, sizes.ended])
  ends.catch(() => {}) // looked at below, but a reader that throws comes first
  list.stdout.pipe(sizes.stdin)
  const commits: Oid[] = []
  const largeBlobs = new Map<Oid, number>()
  let [objects, treeBytes] = [0, 0]
  try {
    for await (const line of createInterface({ input: sizes.stdout })) {
      const [oid = '', type, digits] = line.split(' ')
      const size = Number(digits)
      if (++objects > maxObjects) throw new PushTooLarge(`The push has more than ${maxObjects} objects.`)
      if (type === 'commit') {
        if (size > maxCommitBytes) throw new PushTooLarge(`The message of commit ${oid.slice(0, 7)} is too long.`)
        commits.push(oid)
      } else if (type === 'tree') {
        treeBytes += size
        if (size > maxTreeBytes) throw new PushTooLarge('A folder of the push holds too many files.')
        if (treeBytes > maxTreeBytesInAll) throw new PushTooLarge('The push has too many and too large folders.')
      } else if (type === 'blob' && size > maxBlobBytes) {
        largeBlobs.set(oid, size)
      }
    }
    const [{ exitCode, complaint }, { exitCode: sizesExit }] = await ends
    if (exitCode === 0 && sizesExit === 0) return { commits, largeBlobs }
    throw new GitError('git-failed', `git rev-list ended with ${exitCode ?? 'a signal'}: ${complaint}`)
  } finally {
    list.kill('SIGKILL')
    sizes.kill('SIGKILL')
  }
}

/** Two programs that were started; where one could not be, the other is ended. @throws {GitError} `no-git` */
async function bothOrNone(
  ...starting: [Promise<RunningProgram>, Promise<RunningProgram>]
): Promise<[RunningProgram, RunningProgram]> {
  return Promise.all(starting).catch((error: unknown) => {
    for (const start of starting) start.then(({ kill }) => kill('SIGKILL')).catch(() => {})
    throw error
  })
}

/** A folder of a pushed commit that is as in none of its parents. */
export type PushedFolder = {
  commit: Oid
  /** Of its path as bytes: empty for the root, else with a slash at its end. */
  prefix: string
  tree: Tree
  /** What none of the parents has at that place. */
  changed: readonly TreeEntry[]
  /** Those of its names that some parent has not. */
  added: ReadonlySet<string>
}

/**
 * Looks into every folder that the commits of a push change, those of commits whose changes are undone later as well.
 * @param visit says which of the changed folders in a folder to look into.
 * @throws {PushTooLarge} if a tree would expand to too many files, a commit has too many parents, or the work would be too much.
 */
export async function walkPushedTrees(
  repository: Repository,
  commits: readonly Oid[],
  visit: (folder: PushedFolder) => readonly TreeEntry[],
): Promise<void> {
  let [entries, compared] = [0, 0]
  const readFolder = folderReader(repository)
  for (const commit of commits) {
    const { data } = await repository.read(commit)
    const parents = parentsOf(data)
    checkParents(commit, parents)
    const roots = await Promise.all(parents.map((parent) => repository.treeOf(parent)))
    const waiting = [{ prefix: '', oid: await repository.treeOf(commit), before: roots }]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { prefix, oid, before } = next
      if (before.includes(oid)) continue
      const { tree } = await readFolder(oid)
      const olds = await Promise.all(before.map(async (old) => (await readFolder(old)).byName))
      const changed = tree.entries.filter((entry) => !olds.some((old) => isSame(old.get(entry.name), entry)))
      const isEverywhere = ({ name }: TreeEntry) =>
        parents.length > 0 && olds.length === parents.length && olds.every((old) => old.has(name))
      const added = new Set(tree.entries.filter((entry) => !isEverywhere(entry)).map(({ name }) => name))
      entries += changed.length
      compared += olds.reduce((sum, old) => sum + old.size + 1, tree.entries.length)
      if (entries > maxEntries) {
        throw new PushTooLarge(`The tree would hold too many files: the push changes more than ${maxEntries}.`)
      }
      if (compared > maxCompared) throw new PushTooLarge('The push changes too large folders too often.')
      for (const { name, oid: folder } of visit({ commit, prefix, tree, changed, added })) {
        const oldFolders = olds.map((old) => old.get(name)).filter((old) => old?.mode === '40000')
        waiting.push({ prefix: `${prefix}${name}/`, oid: folder, before: oldFolders.flatMap((old) => old?.oid ?? []) })
      }
      // What is read is remembered, so that nothing else might get its turn.
      await nextTurn()
    }
  }
}

/** Every file that differs between two commits of a push that was found good. @throws {PushTooLarge} */
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

type Folder = { tree: Tree; byName: ReadonlyMap<string, TreeEntry> }

/** Reads folders, and remembers the last ones decoded. */
function folderReader(repository: Repository): (oid: Oid) => Promise<Folder> {
  const remembered = new Map<Oid, Folder>()
  let size = 0
  return async (oid) => {
    const known = remembered.get(oid)
    if (known !== undefined) return known
    const tree = await repository.readTree(oid)
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

/** git itself makes no commit that names a parent twice. @throws {PushTooLarge} */
function checkParents(commit: Oid, parents: readonly Oid[]): void {
  const short = commit.slice(0, 7)
  if (new Set(parents).size < parents.length) throw new PushTooLarge(`Commit ${short} names a parent twice.`)
  if (parents.length > maxParents) {
    throw new PushTooLarge(`Commit ${short} has ${parents.length} parents; ${maxParents} are allowed.`)
  }
}

function isSame(old: TreeEntry | undefined, now: TreeEntry): boolean {
  return old?.oid === now.oid && old.mode === now.mode
}

function parentsOf(commit: Buffer): Oid[] {
  const [header = ''] = commit.toString('latin1').split('\n\n', 1)
  return [...header.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, oid = '']) => oid)
}
