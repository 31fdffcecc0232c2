import type { Oid } from '../objects/object.ts'
import type { Repository } from '../repository.ts'
import { CommitWalk } from './commit-walk.ts'
import { splitHistories } from './split-histories.ts'

/**
 * Whether one commit is in the history of another, or is that commit. Of a commit that is not there, nothing is.
 * @throws {GitError} `git-failed` when the history of `head` cannot be read.
 */
export async function isAncestor(repository: Repository, commit: Oid, head: Oid): Promise<boolean> {
  if (commit === head) return true
  const walk = new CommitWalk(repository)
  await walk.commit(head)
  if ((await repository.find(commit)) === undefined) return false
  const { isOfOthers } = await splitHistories(walk, { one: commit, others: [head] })
  return isOfOthers(commit)
}

/** Milliseconds. A history with thousands of merge bases takes minutes, any other a part of a second. */
const mergeBaseTime = 20_000

/**
 * The best common ancestor of two commits; nothing where they have none.
 * @throws {GitError} `git-failed` when the history of either cannot be read, `too-slow` when it takes longer than the time limit.
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
