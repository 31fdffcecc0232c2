import { isAncestor, mergeBase } from '../../git/history/ancestry.ts'
import { trailersOf } from '../../git/history/trailers.ts'
import { authorLineOfCommit, messageOfCommit, type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import { encodePack } from '../../git/objects/pack.ts'
import type { Repository } from '../../git/repository.ts'
import { missingObjects } from '../../git/transport/missing-objects.ts'
import { pushToRemote, type RemoteUpdate } from '../../git/transport/remote.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { serverDomain } from '../../kb/refs/commit-message.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { clockDifferenceMs } from '../../state/forge/forge-links.ts'
import type { PullRequest } from '../forge-adapter.ts'
import { ForgePaused, otherRepository } from './forge-paused.ts'
import {
  agree,
  callerOfAccount,
  callerOfLink,
  type Linked,
  type LinkedTaking,
  linkedCaller,
  type Seen,
} from './linked.ts'
import { type Step, takeCommits } from './take-pack.ts'

/** Commits of main that are pushed at a time: a first push may bring a long history. */
const pushedAtOnce = 500

/**
 * Brings both mains to the same commit: commits of the forge's main are received as submitted pushes, then main is pushed to the
 * forge, always as a fast-forward.
 * @param hear called once main there is known to be ours, and before anything of it is taken
 * @returns what a person has to see to, where the forge's main cannot be taken
 * @throws {ForgePaused} where main there is another's
 */
export async function joinMains(linked: Linked, seen: Seen, hear: () => Promise<void>): Promise<string | undefined> {
  const { kb, link } = linked
  const theirs = seen.branches.get(link.branch)
  const ours = await kb.repository.readRef(mainRef)
  if (ours === undefined) return 'The knowledge base has no main.'
  if (theirs === undefined || (await isWithin(linked, theirs, ours))) await hear()
  else {
    const problem = await takeMain(linked, seen, { theirs, ours, hear })
    if (problem !== undefined) return problem
  }
  await showApprovals(linked, seen)
  return pushMain(linked, seen, theirs)
}

/** Whether a commit is here, and in the history of another. */
export async function isWithin({ kb }: Pick<Linked, 'kb'>, commit: Oid, head: Oid): Promise<boolean> {
  return (await kb.repository.find(commit)) !== undefined && (await isAncestor(kb.repository, commit, head))
}

/** @returns why it was not taken */
async function takeMain(
  linked: Linked,
  seen: Seen,
  { theirs, ours, hear }: { theirs: Oid; ours: Oid; hear: () => Promise<void> },
): Promise<string | undefined> {
  const { link, ctx, kb } = linked
  const { lines } = await takeCommits(
    linked,
    { to: theirs, haves: await havesOf(linked, seen) },
    async (repository) => {
      await requireOwnHistory(linked, repository, { theirs, ours })
      await hear()
      return stepsTo(linked, seen, repository, { theirs, ours })
    },
  )
  const isThere = await isWithin(linked, theirs, (await kb.repository.readRef(mainRef)) ?? ours)
  if (!isThere) return `main on the forge cannot be taken: ${lines.join(' · ')}`
  await ctx.forgeLinks.note(link.id, { main: theirs })
  link.main = theirs
  return undefined
}

/** Whether a commit of a repository has history in common with our main. Nothing of it is taken. */
export async function hasOurHistory(linked: LinkedTaking, theirs: Oid): Promise<boolean> {
  const ours = await linked.kb.repository.readRef(mainRef)
  if (ours === undefined || (await isWithin(linked, theirs, ours))) return ours !== undefined
  let isOurs = false
  await takeCommits(linked, { to: theirs, haves: [ours] }, async (repository) => {
    isOurs = (await mergeBase(repository, theirs, ours)) !== undefined
    return []
  })
  return isOurs
}

/** @throws {ForgePaused} where main there has another history than ours, or lacks what both had */
async function requireOwnHistory(
  { link }: Linked,
  repository: Repository,
  { theirs, ours }: { theirs: Oid; ours: Oid },
): Promise<void> {
  if ((await mergeBase(repository, theirs, ours)) === undefined) {
    throw new ForgePaused('main there has no history in common with this knowledge base', otherRepository)
  }
  const { main } = link
  if (main === null || (await repository.find(main)) === undefined || (await isAncestor(repository, main, theirs)))
    return
  throw new ForgePaused(
    `main there was rewritten: it no longer holds ${main.slice(0, 10)}, which both sides had`,
    'Push a main there that holds that commit, or unlink the knowledge base and link it again',
  )
}

/**
 * Commits with all their history that need not be fetched: our main, and those that the forge has had as its main. Only what is here
 * counts: the forge's main may not have been taken yet, and a backup may be older than what was agreed on.
 */
export async function havesOf({ kb, link }: Linked, { branches }: Seen): Promise<Oid[]> {
  const haves: Oid[] = []
  for (const oid of [await kb.repository.readRef(mainRef), branches.get(link.branch), link.main]) {
    if (oid && (await kb.repository.find(oid)) !== undefined) haves.push(oid)
  }
  return haves
}

/**
 * The commits that main there has and ours lacks, in order, each with whom it is taken from: the account that merged it, where it came
 * by a pull request into main, and the link where it came by any other way.
 */
async function stepsTo(
  linked: Linked,
  seen: Seen,
  repository: Repository,
  { theirs, ours }: { theirs: Oid; ours: Oid },
): Promise<Step[]> {
  const line: { oid: Oid; data: Buffer }[] = []
  for (let at: Oid | undefined = theirs; at !== undefined && !(await isWithin(linked, at, ours)); ) {
    const { data } = await repository.read(at)
    line.unshift({ oid: at, data })
    ;[at] = parentsOfCommit(data)
  }
  const merges = await mergesOn(linked, seen, new Set(line.map(({ oid }) => oid)))
  const steps: Step[] = []
  let owned = line.length
  for (let at = line.length - 1; at >= 0; at--) {
    const { oid, data } = line[at] ?? { oid: theirs, data: Buffer.alloc(0) }
    const merged = merges.get(oid)
    const believed = restoredApprover(linked, data)
    // The forge may have seen the server's own approval as a merge; what a person merged is that person's, whatever it says.
    const isOwn = believed !== undefined && merged?.mergedBy?.id === (await linked.forge.who()).id
    const restored = merged?.mergedBy === undefined || isOwn ? believed : undefined
    const merge = restored === undefined ? merged : undefined
    if (merge?.mergedBy !== undefined) {
      steps.unshift({ to: oid, caller: callerOfAccount(linked, merge.mergedBy.id), option: 'submit' })
      owned = at - (await rebasedBefore(linked, repository, { merge, line: line.slice(0, at + 1), ours, merges }))
    } else if (at < owned) {
      const caller = restored ?? callerOfLink(linked)
      const [next] = steps
      const isSame = next?.caller.id === caller.id && at + 1 < owned
      if (!isSame) steps.unshift({ to: oid, caller, option: 'submit' })
    }
  }
  return steps
}

/** The pull requests whose merges into main are among some commits, by these. */
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

/** How many commits of a line before its last, the merge of a pull request, came by the same merge: it was rebased, or moved main. */
async function rebasedBefore(
  linked: Linked,
  repository: Repository,
  {
    merge,
    line,
    ours,
    merges,
  }: { merge: PullRequest; line: readonly { oid: Oid; data: Buffer }[]; ours: Oid; merges: ReadonlyMap<Oid, unknown> },
): Promise<number> {
  const last = line.at(-1)
  if (last === undefined || parentsOfCommit(last.data).length > 1) return 0
  const onLine = new Set(line.map(({ oid }) => oid))
  const keyOf = (data: Buffer) => JSON.stringify([authorLineOfCommit(data), messageOfCommit(data)])
  const own = new Set<string>()
  for (let at: Oid | undefined = merge.head; at !== undefined && !onLine.has(at); ) {
    if ((await repository.find(at)) === undefined || (await isWithin(linked, at, ours))) break
    const { data } = await repository.read(at)
    own.add(keyOf(data))
    ;[at] = parentsOfCommit(data)
  }
  let count = 0
  for (const { oid, data } of line.slice(0, -1).reverse()) {
    if (merges.has(oid) || !(merge.head === last.oid || own.has(keyOf(data)))) break
    count++
  }
  return count
}

/**
 * Who approved a commit that the server made before a backup was restored, by its trailer. Anybody can forge that, so it is believed
 * only in the first comparison after a restore.
 */
function restoredApprover({ kb, link }: Linked, data: Buffer): Caller | undefined {
  const isRestored = kb.projection.seqFloor() > 0 && link.syncedAt === null
  if (!isRestored || !authorLineOfCommit(data).includes(serverDomain)) return undefined
  const approvedBy = trailersOf(messageOfCommit(data)).findLast(([name]) => name === 'Approved-By')?.[1]
  const [, name = '', id] = /^(.*) <([^<>]+:[^<>]+)>$/.exec(approvedBy ?? '') ?? []
  return id === undefined ? undefined : linkedCaller(link, id, name)
}

/** @returns why the forge does not take it */
async function pushMain(linked: Linked, seen: Seen, theirs: Oid | undefined): Promise<string | undefined> {
  const { kb, link, ctx } = linked
  const ours = await kb.repository.readRef(mainRef)
  if (ours === undefined || ours === theirs) return undefined
  const ref = `refs/heads/${link.branch}`
  let from = theirs
  for (const to of theirs === undefined ? await stepsOnMain(linked, ours) : [ours]) {
    const reason = (await pushBranches(linked, seen, [{ ref, from, to }])).get(ref)
    if (reason !== undefined) return `The forge does not take main: ${reason}`
    from = to
  }
  await ctx.forgeLinks.note(link.id, { main: ours })
  link.main = ours
  return undefined
}

/** Places of main's first-parent line, to which it can be pushed one after the other. */
async function stepsOnMain({ kb }: Linked, to: Oid): Promise<Oid[]> {
  const steps = [to]
  let count = 0
  for (let at: Oid | undefined = to; at !== undefined; ) {
    if (++count % pushedAtOnce === 0) steps.unshift(at)
    ;[at] = parentsOfCommit((await kb.repository.read(at)).data)
  }
  return [...new Set(steps)]
}

/** Lets the branches of what was approved here end in the approvals: once main has those, the forge sees the pull requests as merged. */
async function showApprovals(linked: Linked, seen: Seen): Promise<void> {
  const { kb } = linked
  const moves = seen.rows.flatMap((row) => {
    const candidates = row.candidates.flatMap((id) => findCandidate(kb.projection.read, id) ?? [])
    const isDecided = candidates.every(({ status }) => status !== 'pending')
    const approval = isDecided ? candidates.find(({ status }) => status === 'approved')?.approval : undefined
    const from = seen.branches.get(row.branch)
    const isOpen = row.state === 'open' && seen.pulls.get(row.number ?? 0)?.state === 'open'
    if (approval === undefined || from === undefined || from === approval.commit || !isOpen) return []
    return [{ row, update: { ref: `refs/heads/${row.branch}`, from, to: approval.commit } }]
  })
  await pushBranches(
    linked,
    seen,
    moves.map(({ update }) => update),
  )
  for (const { row, update } of moves) {
    seen.merging.add(row)
    await agree(linked, row, { head: update.to })
  }
}

/**
 * Moves branches of the forge, with all that they need.
 * @returns why those that did not move did not; main's must @throws {RemoteError}
 */
export async function pushBranches(
  { kb, forge, link, signal }: Linked,
  seen: Seen,
  updates: readonly RemoteUpdate[],
): Promise<Map<string, string>> {
  if (updates.length === 0) return new Map()
  const wants = updates.flatMap(({ to }) => to ?? [])
  const haves = [...seen.branches.values(), ...(link.main === null ? [] : [link.main])]
  const objects = await missingObjects(kb.repository, wants, haves)
  const pack = wants.length === 0 ? undefined : (await encodePack(objects)).pack
  const refused = await pushToRemote(await forge.access(), updates, pack, { signal })
  for (const { ref, to } of updates) {
    const branch = ref.replace('refs/heads/', '')
    if (refused.has(ref)) continue
    if (to === undefined) seen.branches.delete(branch)
    else seen.branches.set(branch, to)
  }
  return refused
}
