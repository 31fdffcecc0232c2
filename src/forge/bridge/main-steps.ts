import { CommitWalk } from '../../git/history/ancestry.ts'
import { commitsBetween } from '../../git/history/history.ts'
import { trailersOf } from '../../git/history/trailers.ts'
import { authorLineOfCommit, messageOfCommit, type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { serverDomain } from '../../kb/refs/commit-message.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { clockDifferenceMs } from '../../state/forge-links.ts'
import type { PullRequest } from '../forge-adapter.ts'
import { countBrought } from './brought-commits.ts'
import { callerOfAccount, callerOfLink, isWithin, type Linked, linkedCaller, type Seen, unlessGone } from './linked.ts'
import type { Step } from './take-pack.ts'

/**
 * Steps in which the forge's main is taken. `unread`: heads of merged requests that the repository lacks; until they are fetched, their
 * merges count as pushes.
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
