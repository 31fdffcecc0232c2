import { GitError } from '../../git/git-error.ts'
import { CommitWalk, mergeBase } from '../../git/history/ancestry.ts'
import { commitsBetween } from '../../git/history/history.ts'
import { type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { mergeText } from '../../rules/neurons/merge.ts'

/** Change of the files from one commit to another. */
type Patch = { before: Oid; after: Oid }

/**
 * Counts the commits at the end of a line of main that the merge of a request brought: 0 if its last commit changes more than the request
 * proposes. Commits are compared by their changes, as `git patch-id` does, and each commit of the request counts once. Used for lines that
 * a forge has written anew: by a merge commit, a squash, or a rebase.
 * @param line commits of main, oldest first, up to the one that the forge reports as the merge
 * @param head the request's last commit, whose history must be readable
 */
export async function countBrought(repository: Repository, line: readonly Oid[], head: Oid): Promise<number> {
  try {
    return await count(repository, line, head)
  } catch (error) {
    // A history that is unreadable, or too slow to read, proves nothing.
    if (error instanceof GitError) return 0
    throw error
  }
}

async function count(repository: Repository, line: readonly Oid[], head: Oid): Promise<number> {
  const merge = line.at(-1)
  const [onto, ...others] = merge === undefined ? [] : await parentsOf(repository, merge)
  if (merge === undefined || onto === undefined) return 0
  const base = await mergeBase(repository, onto, head)
  if (base === undefined) return 0
  const whole = { before: base, after: head }
  let own = others.length > 0 ? [] : await patchesOf(repository, { from: onto, to: head })
  let brought = 0
  for (const commit of others.length > 0 ? [] : line.toReversed()) {
    const [before, ...more] = await parentsOf(repository, commit)
    if (before === undefined || more.length > 0) break
    const at = await indexOfPatch(repository, own, { before, after: commit })
    if (at < 0) break
    own = own.slice(at + 1)
    brought++
  }
  if (brought > 0) return brought
  return (await brings(repository, { before: onto, after: merge }, whole)) ? 1 : 0
}

async function parentsOf(repository: Repository, commit: Oid): Promise<Oid[]> {
  return parentsOfCommit((await repository.read(commit)).data)
}

/** Returns the commits of a request without its merges, newest first. */
async function patchesOf(repository: Repository, { from, to }: { from: Oid; to: Oid }): Promise<Patch[]> {
  const patches: Patch[] = []
  for (const { oid } of (await commitsBetween(new CommitWalk(repository), from, to)).reverse()) {
    const [before, ...others] = await parentsOf(repository, oid)
    if (before !== undefined && others.length === 0) patches.push({ before, after: oid })
  }
  return patches
}

async function indexOfPatch(repository: Repository, own: readonly Patch[], patch: Patch): Promise<number> {
  for (const [at, each] of own.entries()) if (await brings(repository, patch, each)) return at
  return -1
}

/** True if a change equals the proposed one applied to its own base, or the part of it that the base lacks. */
async function brings(repository: Repository, patch: Patch, proposed: Patch): Promise<boolean> {
  const proposals = new Map<string, BlobChange>()
  for await (const { path, ...change } of repository.diffCommits(proposed.before, proposed.after)) {
    proposals.set(path, change)
  }
  for await (const { path, ...change } of repository.diffCommits(patch.before, patch.after)) {
    const known = proposals.get(path)
    const possible = known === undefined ? await movedProposals(repository, patch, proposals) : [known]
    let isProposed = false
    for (const proposal of possible) isProposed ||= await isApplied(repository, change, proposal)
    if (!isProposed) return false
  }
  return true
}

/** Returns the proposed changes of pages that have another path in the base of a patch, where a merge applies them. */
async function movedProposals(
  repository: Repository,
  { before }: Patch,
  proposals: ReadonlyMap<string, BlobChange>,
): Promise<BlobChange[]> {
  const moved: BlobChange[] = []
  for (const [path, change] of proposals) {
    const isEdit = change.before !== undefined && change.after !== undefined
    if (isEdit && (await repository.blobAt(before, path)) === undefined) moved.push(change)
  }
  return moved
}

type BlobChange = { before?: Oid; after?: Oid }

async function isApplied(repository: Repository, change: BlobChange, proposal: BlobChange): Promise<boolean> {
  if (change.before === proposal.before) return change.after === proposal.after
  if (change.after === undefined || proposal.after === undefined || change.before === undefined) return false
  const read = async (oid: Oid | undefined) => (oid === undefined ? '' : await repository.readTextOnce(oid))
  const [base, current, proposed, result] = await Promise.all([
    read(proposal.before),
    read(change.before),
    read(proposal.after),
    read(change.after),
  ])
  if ([base, current, proposed, result].some((text) => /[\0\ufffd]/.test(text))) return false
  const merged = mergeText(base, current, proposed)
  return 'text' in merged && merged.text === result
}
