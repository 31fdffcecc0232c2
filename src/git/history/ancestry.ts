import { join } from 'node:path'
import TinyQueue from 'tinyqueue'
import { pauses } from '../../system/pauses.ts'
import { GitError } from '../git-error.ts'
import { type Oid, parentsOfCommit, secondsOfCommit, treeOfCommit } from '../objects/object.ts'
import { commonDir, readLines } from '../objects/object-store.ts'
import type { ReadableObjects, Repository } from '../repository.ts'

/** Commit for walks through history. `seconds`: commit time since 1970; `size`: in bytes. */
export type WalkedCommit = { oid: Oid; tree: Oid; parents: readonly Oid[]; seconds: number; size: number }

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

export type SplitHistories = {
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
