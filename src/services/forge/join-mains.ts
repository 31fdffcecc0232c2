import type { PullRequest } from '../../forge/forge.ts'
import { isAncestor } from '../../git/history/ancestry.ts'
import { type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import { encodePack } from '../../git/objects/pack.ts'
import { missingObjects } from '../../git/transport/missing-objects.ts'
import { pushToRemote, type RemoteUpdate } from '../../git/transport/remote.ts'
import { findCandidate } from '../../store/projection/candidate-index.ts'
import { mainRef } from '../knowledge-base/kb-refs.ts'
import { agree, callerOfAccount, callerOfLink, type Linked, mainBranch, type Seen } from './linked.ts'
import { takeCommits } from './take-pack.ts'

/** Commits of main that are pushed at a time: a first push may bring a long history. */
const pushedAtOnce = 500

/**
 * Brings both mains to the same commit: commits of the forge's main are received as a submitted push of the account that merged them,
 * then main is pushed to the forge, always as a fast-forward.
 * @returns what a person has to see to, where the forge's main cannot be taken
 */
export async function joinMains(linked: Linked, seen: Seen): Promise<string | undefined> {
  const { kb } = linked
  const theirs = seen.branches.get(mainBranch)
  const ours = await kb.repository.readRef(mainRef)
  if (ours === undefined) return 'The knowledge base has no main.'
  if (theirs !== undefined && !(await isWithin(linked, theirs, ours))) {
    const problem = await takeMain(linked, seen, theirs, ours)
    if (problem !== undefined) return problem
  }
  await showApprovals(linked, seen)
  return pushMain(linked, seen, theirs)
}

async function isWithin({ kb }: Linked, commit: Oid, head: Oid): Promise<boolean> {
  return (await kb.repository.find(commit)) !== undefined && (await isAncestor(kb.repository, commit, head))
}

/** @returns why it was not taken */
async function takeMain(linked: Linked, seen: Seen, theirs: Oid, ours: Oid): Promise<string | undefined> {
  const { link, ganglion } = linked
  const haves = await havesOf(linked, seen)
  for (const { to, by } of stepsTo(theirs, [...seen.pulls.values()])) {
    const caller = by === undefined ? callerOfLink(linked) : callerOfAccount(linked, by)
    const { isTaken, lines } = await takeCommits(linked, caller, { to, option: 'submit', haves })
    const isThere = isTaken || (await isWithin(linked, to, (await linked.kb.repository.readRef(mainRef)) ?? ours))
    if (!isThere) return `main on the forge cannot be taken: ${lines.join(' · ')}`
    await linked.kb.sync()
  }
  await ganglion.forgeLinks.note(link.id, { main: theirs })
  link.main = theirs
  return undefined
}

/**
 * Commits with all their history that need not be fetched: our main, and those that the forge has had as its main. Only what is here
 * counts: the forge's main may not have been taken yet, and a backup may be older than what was agreed on.
 */
export async function havesOf({ kb, link }: Linked, { branches }: Seen): Promise<Oid[]> {
  const haves: Oid[] = []
  for (const oid of [await kb.repository.readRef(mainRef), branches.get(mainBranch), link.main]) {
    if (oid && (await kb.repository.find(oid)) !== undefined) haves.push(oid)
  }
  return haves
}

/** The merges of pull requests in order, each with the account that merged it, and last the head, which may hold other commits too. */
function stepsTo(theirs: Oid, pulls: readonly PullRequest[]): { to: Oid; by: string | undefined }[] {
  const merges = pulls
    .flatMap(({ mergeCommit: to, mergedBy, updatedAt }) =>
      to === undefined ? [] : [{ to, by: mergedBy?.id, updatedAt }],
    )
    .sort((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1))
  const last = merges.find(({ to }) => to === theirs)
  return [...merges.filter((merge) => merge !== last), last ?? { to: theirs, by: undefined }]
}

/** @returns why the forge does not take it */
async function pushMain(linked: Linked, seen: Seen, theirs: Oid | undefined): Promise<string | undefined> {
  const { kb, link, ganglion } = linked
  const ours = await kb.repository.readRef(mainRef)
  if (ours === undefined || ours === theirs) return undefined
  const ref = `refs/heads/${mainBranch}`
  let from = theirs
  for (const to of theirs === undefined ? await stepsOnMain(linked, ours) : [ours]) {
    const reason = (await pushBranches(linked, seen, [{ ref, from, to }])).get(ref)
    if (reason !== undefined) return `The forge does not take main: ${reason}`
    from = to
  }
  await ganglion.forgeLinks.note(link.id, { main: ours })
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
