import { authorLineOfCommit, messageOfCommit, type Oid } from '../objects/object.ts'
import { canonicalMode } from '../objects/tree.ts'
import type { Repository } from '../repository.ts'
import { CommitWalk, splitHistories, type WalkedCommit } from './ancestry.ts'
import { type Trailers, trailersOf } from './trailers.ts'

export type FileChange = { path: string; mode: string; after: Oid | undefined }
export type HistoryEntry = {
  commit: Oid
  at: Date
  changes: FileChange[]
  trailers: Trailers
}

/** Filters of commits. */
type HistoryOptions = {
  /** Text that the message must contain. */
  line?: string
  /** Text that the author's name or address must contain. */
  author?: string
}

const noMode = '000000'

/**
 * Reads a branch's first-parent history, oldest first: a merged branch counts as the commit that merged it.
 * @param after commit before which to stop; must be on the first-parent line, see {@link isOnFirstParentLine}
 * @throws {GitError} `git-failed`
 */
export async function* readCommits(
  repository: Repository,
  head: Oid,
  after: Oid | undefined,
  options: HistoryOptions = {},
): AsyncGenerator<HistoryEntry> {
  const walk = new CommitWalk(repository)
  const line: WalkedCommit[] = []
  for await (const commit of firstParents(walk, head)) {
    if (commit.oid === after) break
    line.push(commit)
  }
  yield* readEntries(repository, walk, line.reverse(), options)
}

/**
 * Reads the commits in the history of `to` that are not in that of `from`, parents before children. The changes of a merge are
 * relative to its first parent.
 * @throws {GitError} `git-failed`
 */
export async function* readRange(
  repository: Repository,
  { from, to }: { from: Oid; to: Oid },
  options: HistoryOptions = {},
): AsyncGenerator<HistoryEntry> {
  const walk = new CommitWalk(repository)
  yield* readEntries(repository, walk, await commitsBetween(walk, from, to), options)
}

/** Returns the commits of `to` that `from` lacks, parents before children. @throws {GitError} `git-failed` */
export async function commitsBetween(walk: CommitWalk, from: Oid, to: Oid): Promise<WalkedCommit[]> {
  const { onlyOne } = await splitHistories(walk, { one: to, others: [from], slop: 100 })
  const wanted = new Map(onlyOne.map((commit) => [commit.oid, commit]))
  const ordered: WalkedCommit[] = []
  const path = [to]
  for (let oid = path.at(-1); oid !== undefined; oid = path.at(-1)) {
    const commit = wanted.get(oid)
    const parent = commit?.parents.find((each) => wanted.has(each))
    if (parent !== undefined) path.push(parent)
    else {
      path.pop()
      if (commit !== undefined && wanted.delete(oid)) ordered.push(commit)
    }
  }
  return ordered
}

/** True if `commit` is on the first-parent line of `head`, so that its successors form a linear list. */
export async function isOnFirstParentLine(repository: Repository, head: Oid, commit: Oid): Promise<boolean> {
  for await (const { oid } of firstParents(new CommitWalk(repository), head)) if (oid === commit) return true
  return false
}

async function* firstParents(walk: CommitWalk, head: Oid): AsyncGenerator<WalkedCommit> {
  for (let oid: Oid | undefined = head; oid !== undefined; ) {
    const commit: WalkedCommit = await walk.commit(oid)
    yield commit
    oid = commit.parents[0]
  }
}

async function* readEntries(
  repository: Repository,
  walk: CommitWalk,
  commits: readonly WalkedCommit[],
  { line, author }: HistoryOptions,
): AsyncGenerator<HistoryEntry> {
  for (const commit of commits) {
    const { data } = await repository.read(commit.oid)
    if (line !== undefined && !messageOfCommit(data).includes(line)) continue
    if (author !== undefined && !authorLineOfCommit(data).includes(author)) continue
    yield {
      commit: commit.oid,
      at: new Date(commit.seconds * 1000),
      changes: await changesOf(repository, walk, commit),
      trailers: trailersOf(messageOfCommit(data)),
    }
  }
}

async function changesOf(repository: Repository, walk: CommitWalk, commit: WalkedCommit): Promise<FileChange[]> {
  const changes: FileChange[] = []
  for await (const { path, is } of repository.compareTrees(await walk.treeBefore(commit.parents), commit.tree)) {
    changes.push({ path, mode: is === undefined ? noMode : canonicalMode(is.mode), after: is?.oid })
  }
  return changes
}

/**
 * Returns the blob of each path in the last commit on the first-parent line of `head` that changed it and has a given line in its message.
 * Leaves out paths that this commit removed.
 * @throws {GitError} `git-failed`
 */
export async function lastWritten(repository: Repository, head: Oid, line: string): Promise<Map<string, Oid>> {
  const written = new Map<string, Oid>()
  for await (const { changes } of readCommits(repository, head, undefined, { line })) {
    for (const { path, after } of changes) {
      if (after === undefined) written.delete(path)
      else written.set(path, after)
    }
  }
  return written
}
