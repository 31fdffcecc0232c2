import TinyQueue from 'tinyqueue'
import { pauses } from '../../system/pauses.ts'
import { GitError } from '../git-error.ts'
import type { Oid } from '../objects/object.ts'
import type { CommitWalk, WalkedCommit } from './commit-walk.ts'

/** Colours of a commit: in the history of the one, of the others, and of a commit that both have. */
const [ofOne, ofOthers, isCommon] = [1, 2, 4]

type Painting = { one: Oid; others: readonly Oid[]; slop?: number; until?: number }

export type SplitHistories = {
  isOfOthers(oid: Oid): boolean
  onlyOne: readonly WalkedCommit[]
  /** Common commits found first on each line, the latest first. One may still be in the history of another. */
  bases: readonly Oid[]
}

/**
 * Walks two histories at once, the latest commits first, until what is left is in both: `paint_down_to_common` of git's
 * commit-reach.c.
 * @param slop how many commits to walk further, so that `onlyOne` is right although a commit is younger than its child, as where a
 *   clock was wrong; git itself takes 5. The rest of the answer is right in any case.
 * @param until when to give up, as of `performance.now`
 * @throws {GitError} `git-failed` where a commit cannot be read, `too-slow`
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
