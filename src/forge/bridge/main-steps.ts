import { GitError } from '../../git/git-error.ts'
import { CommitWalk, commitsBetween, mergeBase } from '../../git/history/history.ts'
import { trailersOf } from '../../git/history/trailers.ts'
import { authorLineOfCommit, messageOfCommit, type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { serverDomain } from '../../kb/refs/commit-message.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { mergeText } from '../../rules/neurons/merge.ts'
import { clockDifferenceMs } from '../../state/forge-links.ts'
import { type PullRequest, unlessGone } from '../forge-adapter.ts'
import { callerOfAccount, callerOfLink, isWithin, type Linked, linkedCaller, type Seen } from './linked.ts'
import type { Step } from './take-pack.ts'

/**
 * Steps by which the forge's main is received. `unread`: heads of merged requests that are not fetched yet; until then, their merges
 * count as pushes.
 */
export type MainSteps = { steps: Step[]; unread: Oid[] }

type Range = { theirs: Oid; ours: Oid }
type MainCommit = { oid: Oid; data: Buffer }

/**
 * Plans the steps in which commits of the forge's main are taken, and in whose name: commits that a merge of a request brought are taken
 * from the account that merged it, and all others from the link.
 */
export async function planSteps(
  linked: Linked,
  seen: Seen,
  repository: Repository,
  { theirs, ours }: Range,
): Promise<MainSteps> {
  const line: MainCommit[] = []
  for (let at: Oid | undefined = theirs; at !== undefined && !(await isWithin(linked, at, ours)); ) {
    const { data } = await repository.read(at)
    line.unshift({ oid: at, data })
    ;[at] = parentsOfCommit(data)
  }
  const merges = await mergesOn(linked, seen, new Set(line.map(({ oid }) => oid)))
  const steps: Step[] = []
  const unread: Oid[] = []
  let owned = line.length
  for (let at = line.length - 1; at >= 0; at--) {
    const { oid, data } = line[at] ?? { oid: theirs, data: Buffer.alloc(0) }
    const merged = merges.get(oid)
    const believed = restoredApprover(linked, data)
    // The forge may show the server's own approval as a merge. A merge by a person belongs to that person, whatever its trailers say.
    const isOwn = believed !== undefined && merged?.mergedBy?.id === (await linked.forge.who()).id
    const restored = merged?.mergedBy === undefined || isOwn ? believed : undefined
    const merge = restored === undefined ? merged : undefined
    if (at >= owned) continue
    if (merge?.mergedBy !== undefined) {
      const step: Step = {
        to: oid,
        caller: callerOfAccount(linked, merge.mergedBy.id),
        option: 'submit',
        request: merge,
      }
      if (merge.head === oid) {
        const before = await stepsBefore(linked, seen, repository, { request: merge, ours })
        if (before !== undefined)
          return { steps: [...before.steps, step, ...steps], unread: [...unread, ...before.unread] }
      } else {
        const isRead = (await repository.find(merge.head)) !== undefined
        if (!isRead) unread.push(merge.head)
        // Commits after the previous merge, up to this one.
        const behind = line.slice(0, at).findLastIndex((commit) => merges.has(commit.oid)) + 1
        const own = line.slice(behind, at + 1).map((commit) => commit.oid)
        const count = isRead ? await countBrought(repository, own, merge.head) : 0
        owned = at + 1 - count
        if (count > 0) steps.unshift(step)
        if (count > 0) continue
      }
    }
    const caller = restored ?? callerOfLink(linked)
    const [next] = steps
    const isSame = next?.caller.id === caller.id && at + 1 < owned
    if (!isSame) steps.unshift({ to: oid, caller, option: 'submit' })
  }
  return { steps, unread }
}

/**
 * Plans the steps before a request that was merged without a new commit. The forge's list of its commits tells which are the request's, and
 * all others come first. Undefined if the merge is none of its commits.
 */
async function stepsBefore(
  linked: Linked,
  seen: Seen,
  repository: Repository,
  { request: { number, head }, ours }: { request: PullRequest; ours: Oid },
): Promise<MainSteps | undefined> {
  const commits = await commitsBetween(new CommitWalk(repository), ours, head)
  const listed = commits.length === 1 ? undefined : await linked.forge.commitsOf(number).catch(unlessGone)
  // If the forge lists no commits, only the last one is known to be the request's.
  const own = new Set(listed ?? [head])
  if (!own.has(head)) return undefined
  const others = commits.filter(({ oid }) => !own.has(oid))
  const parents = new Set(others.flatMap((commit) => commit.parents))
  const before: MainSteps = { steps: [], unread: [] }
  for (const { oid } of others.filter((commit) => !parents.has(commit.oid))) {
    const { steps, unread } = await planSteps(linked, seen, repository, { theirs: oid, ours })
    before.steps.push(...steps.filter(({ to }) => before.steps.every((known) => known.to !== to)))
    before.unread.push(...unread)
  }
  return before
}

/** Returns the pull requests that were merged into main by one of some commits, by that commit. */
async function mergesOn(
  { forge, link }: Linked,
  { pulls }: Seen,
  commits: ReadonlySet<Oid>,
): Promise<Map<Oid, PullRequest>> {
  const merges = new Map<Oid, PullRequest>()
  const add = (pull: PullRequest) => {
    const { mergeCommit, base, state } = pull
    if (state === 'merged' && base === link.branch && mergeCommit !== undefined && commits.has(mergeCommit))
      merges.set(mergeCommit, pull)
  }
  for (const pull of pulls.values()) add(pull)
  if (merges.size === commits.size) return merges
  const since = new Date(Date.parse(link.syncedAt ?? link.createdAt) - clockDifferenceMs).toISOString()
  for (const pull of await forge.recentlyMerged(link.branch, since)) {
    const { number, mergeCommit = '' } = pull
    if (commits.has(mergeCommit) && !merges.has(mergeCommit)) add(await forge.pull(number))
  }
  return merges
}

/**
 * Returns who approved a commit that the server made before a backup was restored, by its trailer. Anybody can forge a trailer, so it is
 * believed only in the first comparison after a restore.
 */
function restoredApprover({ kb, link }: Linked, data: Buffer): Caller | undefined {
  const isRestored = kb.projection.seqFloor() > 0 && link.syncedAt === null
  if (!isRestored || !authorLineOfCommit(data).includes(serverDomain)) return undefined
  const approvedBy = trailersOf(messageOfCommit(data)).findLast(([name]) => name === 'Approved-By')?.[1]
  const [, name = '', id] = /^(.*) <([^<>]+:[^<>]+)>$/.exec(approvedBy ?? '') ?? []
  return id === undefined ? undefined : linkedCaller(link, id, name)
}

/** Difference of the files of two commits. */
type Patch = { before: Oid; after: Oid }

/**
 * Counts the commits at the end of a line of main that the merge of a request brought: 0 if its last commit changes more than the request
 * proposes. Commits are compared by their changes, as `git patch-id` does, and each commit of the request counts once. Used for lines that
 * a forge has written anew: by a merge commit, a squash, or a rebase.
 * @param line commits of main, oldest first, up to the one that the forge reports as the merge
 * @param head the request's last commit, whose history must be readable
 */
async function countBrought(repository: Repository, line: readonly Oid[], head: Oid): Promise<number> {
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
