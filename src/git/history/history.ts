import { join } from 'node:path'
import TinyQueue from 'tinyqueue'
import { pauses } from '../../system/pauses.ts'
import { GitError } from '../git-error.ts'
import {
  authorLineOfCommit,
  canonicalMode,
  messageOfCommit,
  type Oid,
  parentsOfCommit,
  secondsOfCommit,
  treeOfCommit,
} from '../objects/object.ts'
import { commonDir, readLines } from '../objects/object-store.ts'
import type { ReadableObjects, Repository } from '../repository.ts'
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

/** Commit for walks through history. `seconds`: commit time since 1970; `size`: in bytes. */
type WalkedCommit = { oid: Oid; tree: Oid; parents: readonly Oid[]; seconds: number; size: number }

/** Reads commits for walks through history, each once. The history of a shallow clone begins at its boundary. */
export class CommitWalk {
  readonly #repository: ReadableObjects
  readonly #commits = new Map<Oid, WalkedCommit>()
  readonly #shallow: ReadonlySet<Oid>

  constructor(repository: ReadableObjects) {
    this.#repository = repository
    this.#shallow = new Set(readLines(join(commonDir(repository.gitDir), 'shallow')))
  }

  async commit(oid: Oid): Promise<WalkedCommit> {
    const known = this.#commits.get(oid)
    if (known !== undefined) return known
    const object = await this.#read(oid)
    const commit = {
      oid,
      tree: treeOfCommit(object),
      parents: this.#shallow.has(oid) ? [] : parentsOfCommit(object),
      seconds: secondsOfCommit(object),
      size: object.length,
    }
    this.#commits.set(oid, commit)
    return commit
  }

  /** Returns the tree of the first parent, if there is one. */
  async treeBefore([parent]: readonly Oid[]): Promise<Oid | undefined> {
    return parent === undefined ? undefined : (await this.commit(parent)).tree
  }

  async #read(oid: Oid): Promise<Buffer> {
    try {
      const { type, data } = await this.#repository.read(oid)
      if (type === 'commit') return data
    } catch (cause) {
      throw new GitError('git-failed', `the commit ${oid} of a history cannot be read`, { cause })
    }
    throw new GitError('git-failed', `${oid}, of a history, is no commit`)
  }
}

/**
 * True if a commit is `head` or in its history. False for a commit that does not exist.
 * @throws {GitError} `git-failed` if the history of `head` cannot be read
 */
export async function isAncestor(repository: Repository, commit: Oid, head: Oid): Promise<boolean> {
  if (commit === head) return true
  const walk = new CommitWalk(repository)
  await walk.commit(head)
  if ((await repository.find(commit)) === undefined) return false
  const { isOfOthers } = await splitHistories(walk, { one: commit, others: [head] })
  return isOfOthers(commit)
}

/** Maximum milliseconds of a search. Thousands of merge bases take minutes, any other history a fraction of a second. */
const mergeBaseTime = 20_000

/**
 * Returns the best common ancestor of two commits, or undefined if there is none.
 * @throws {GitError} `git-failed` if the history of either cannot be read, `too-slow` after the time limit
 */
export async function mergeBase(
  repository: Repository,
  a: Oid,
  b: Oid,
  { timeLimit = mergeBaseTime }: { timeLimit?: number } = {},
): Promise<Oid | undefined> {
  const until = performance.now() + timeLimit
  const walk = new CommitWalk(repository)
  const { bases } = await splitHistories(walk, { one: a, others: [b], until })
  for (const one of bases) {
    const others = bases.filter((other) => other !== one)
    if (others.length === 0) return one
    const { isOfOthers } = await splitHistories(walk, { one, others, until })
    if (!isOfOthers(one)) return one
  }
  return undefined
}

/** Flags of a commit: in the history of `one`, in that of `others`, and common to both. */
const [ofOne, ofOthers, isCommon] = [1, 2, 4]

type Painting = { one: Oid; others: readonly Oid[]; slop?: number; until?: number }

type SplitHistories = {
  isOfOthers(oid: Oid): boolean
  onlyOne: readonly WalkedCommit[]
  /** Common commits found first on each line, latest first. Some may be in the history of others. */
  bases: readonly Oid[]
}

/**
 * Walks two histories at once, latest commits first, until the remaining commits are in both: `paint_down_to_common` of git's
 * commit-reach.c.
 * @param slop number of further commits to walk, so that `onlyOne` is right even if a wrong clock has made a commit younger than
 * its child. Git uses 5. The rest of the result is right in any case.
 * @param until time to give up, by `performance.now`
 * @throws {GitError} `git-failed` if a commit cannot be read, `too-slow`
 */
export async function splitHistories(
  walk: CommitWalk,
  { one, others, slop = 0, until = Number.POSITIVE_INFINITY }: Painting,
): Promise<SplitHistories> {
  const colours = new Map<Oid, number>()
  const waiting = new Set<Oid>()
  const queue = new TinyQueue<WalkedCommit>([], (a, b) => b.seconds - a.seconds)
  const pause = pauses()
  const bases: Oid[] = []
  const seen: WalkedCommit[] = []
  let [undecided, oldest, further] = [0, Number.POSITIVE_INFINITY, slop]

  const paint = async (oid: Oid, colour: number) => {
    const before = colours.get(oid) ?? 0
    const after = before | colour
    if (before === after) return
    colours.set(oid, after)
    const [wasUndecided, isUndecided] = [waiting.has(oid) && (before & isCommon) === 0, (after & isCommon) === 0]
    undecided += Number(isUndecided) - Number(wasUndecided)
    if (waiting.has(oid)) return
    waiting.add(oid)
    queue.push(await walk.commit(oid))
  }

  await paint(one, ofOne)
  for (const other of others) await paint(other, ofOthers)
  for (let commit = queue.pop(); commit !== undefined; commit = queue.pop()) {
    if (undecided === 0 && (slop === 0 || commit.seconds < oldest) && further-- === 0) break
    if (performance.now() > until)
      throw new GitError('too-slow', 'the histories of two commits take too long to compare')
    await pause()
    waiting.delete(commit.oid)
    let colour = colours.get(commit.oid) ?? 0
    if ((colour & isCommon) === 0) undecided--
    if (colour === ofOne) {
      seen.push(commit)
      oldest = Math.min(oldest, commit.seconds)
    }
    if (colour === (ofOne | ofOthers)) {
      if (!bases.includes(commit.oid)) bases.push(commit.oid)
      colour |= isCommon
    }
    for (const parent of commit.parents) await paint(parent, colour)
  }
  return {
    isOfOthers: (oid) => ((colours.get(oid) ?? 0) & ofOthers) !== 0,
    onlyOne: [...new Set(seen)].filter(({ oid }) => colours.get(oid) === ofOne),
    bases: bases.filter((oid) => ((colours.get(oid) ?? 0) & isCommon) === 0),
  }
}
