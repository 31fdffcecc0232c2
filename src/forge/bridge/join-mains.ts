import { isAncestor, mergeBase } from '../../git/history/history.ts'
import { missingObjects } from '../../git/history/reachable.ts'
import { type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import { encodePack } from '../../git/objects/pack-writer.ts'
import type { Repository } from '../../git/repository.ts'
import { pushToRemote, RemoteError, type RemoteUpdate } from '../../git/transport/remote.ts'
import { findCandidate, pendingBelow } from '../../kb/projection/candidate-index.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { gitOriginPrefix } from '../../kb/writing/pushed-neurons.ts'
import { bareId } from '../../rules/access/caller.ts'
import { literal } from '../../rules/text/literal.ts'
import {
  agree,
  branchPrefix,
  callerOfAccount,
  callerOfLink,
  ForgePaused,
  isWithin,
  type Linked,
  type LinkedTaking,
  otherRepository,
  type Seen,
} from './linked.ts'
import { type MainSteps, planSteps } from './main-steps.ts'
import { neededApprovals, neededText } from './needed-approvals.ts'
import { commentMarker } from './remarks.ts'
import { havesOf, type Step, type Taken, takeCommits } from './take-pack.ts'

/** Maximum commits of main that are pushed at a time, since a first push may have a long history. */
const pushedAtOnce = 500

/**
 * Brings both mains to the same commit: commits of the forge's main are received as submitted pushes, then main is pushed to the forge,
 * always as a fast-forward.
 * @param hear called once the forge's main is known to share our history, before any of its commits are taken
 * @returns a problem that a person must resolve, if the forge's main cannot be taken
 * @throws {ForgePaused} if the forge's main belongs to another history
 */
export async function joinMains(linked: Linked, seen: Seen, hear: () => Promise<void>): Promise<string | undefined> {
  const { kb, link } = linked
  const theirs = seen.branches.get(link.branch)
  const ours = await kb.repository.readRef(mainRef)
  if (ours === undefined) return 'The knowledge base has no main.'
  if (theirs === undefined || (await isWithin(linked, theirs, ours))) await hear()
  else {
    const problem = await takeMain(linked, seen, { theirs, hear })
    if (problem !== undefined) return problem
  }
  await showApprovals(linked, seen)
  return pushMain(linked, seen, theirs)
}

/**
 * Takes the forge's main, and returns why it could not. Commits that need further approval are set aside, and the commits after them are
 * taken.
 */
async function takeMain(
  linked: Linked,
  seen: Seen,
  { theirs, hear }: { theirs: Oid; hear: () => Promise<void> },
): Promise<string | undefined> {
  const { link, ctx, kb } = linked
  let lines: readonly string[] = []
  let heard: Promise<void> | undefined
  const hearOnce = () => {
    heard ??= hear()
    return heard
  }
  for (;;) {
    const ours = (await kb.repository.readRef(mainRef)) ?? theirs
    if (await isWithin(linked, theirs, ours)) break
    const taken = await takeCommitsOf(linked, seen, { theirs, ours, hear: hearOnce })
    lines = taken.lines
    if (taken.awaiting === undefined || !(await leaveOutUnapproved(linked, seen, { step: taken.awaiting, lines })))
      break
  }
  const isThere = await isWithin(linked, theirs, (await kb.repository.readRef(mainRef)) ?? theirs)
  if (!isThere) return `main on the forge cannot be taken: ${lines.join(' · ')}`
  await ctx.forgeLinks.note(link.id, { main: theirs })
  link.main = theirs
  return undefined
}

async function takeCommitsOf(
  linked: Linked,
  seen: Seen,
  { theirs, ours, hear }: { theirs: Oid; ours: Oid; hear: () => Promise<void> },
): Promise<Taken> {
  const haves = await havesOf(linked, seen)
  let plan: MainSteps = { steps: [], unread: [] }
  const taken = await takeCommits(linked, { to: theirs, haves }, async (repository) => {
    await requireOwnHistory(linked, repository, { theirs, ours })
    await hear()
    plan = await planSteps(linked, seen, repository, { theirs, ours })
    return plan.unread.length > 0 ? [] : plan.steps
  })
  if (plan.unread.length === 0) return taken
  // The commits of these requests are compared, but not stored.
  const compare = async (repository: Repository) => {
    plan = await planSteps(linked, seen, repository, { theirs, ours })
    return []
  }
  await takeCommits(linked, { to: theirs, also: plan.unread, haves }, compare).catch((error: unknown) => {
    if (!(error instanceof RemoteError && error.code === 'protocol')) throw error
  })
  return takeCommits(linked, { to: theirs, haves }, async () => plan.steps)
}

/** True if a commit of a repository shares history with our main. None of its commits are taken. */
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

/** Checks that the forge's main continues our history. @throws {ForgePaused} if it has another history, or lacks commits that both had */
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

/** Pushes main to the forge. @returns why the forge rejects it */
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

/** Returns commits of main's first-parent line to push one after the other. */
async function stepsOnMain({ kb }: Linked, to: Oid): Promise<Oid[]> {
  const steps = [to]
  let count = 0
  for (let at: Oid | undefined = to; at !== undefined; ) {
    if (++count % pushedAtOnce === 0) steps.unshift(at)
    ;[at] = parentsOfCommit((await kb.repository.read(at)).data)
  }
  return [...new Set(steps)]
}

/**
 * Moves the branches of candidates that were approved here to their approvals. Once main contains those, the forge shows the pull requests
 * as merged.
 */
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
 * Moves branches of the forge, with all objects they need.
 * @returns the branches that did not move, with reasons; a main that does not move is an error
 * @throws {RemoteError}
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

/**
 * Sets aside commits that were merged or pushed on the forge and still need approval: they wait as candidates, main continues without them,
 * and the request gets a report. Returns false, and changes nothing in main, if one of them cannot be a candidate.
 */
async function leaveOutUnapproved(
  linked: Linked,
  seen: Seen,
  { step: { to, request }, lines }: { step: Step; lines: readonly string[] },
): Promise<boolean> {
  const { kb, forge } = linked
  const row = request && seen.rows.find(({ number }) => number === request.number)
  const isOwn = row?.branch.startsWith(branchPrefix) === true
  const proposer = request === undefined || isOwn ? callerOfLink(linked) : callerOfAccount(linked, request.author.id)
  const place = isOwn ? '' : `-${request?.number ?? 'main'}`
  const topic = `${forge.kind}${place}`
  const haves = await havesOf(linked, seen)
  const proposal: Step = { to, caller: proposer, option: `topic=${topic}` }
  const { isTaken } = await takeCommits(linked, { to, haves }, async () => [proposal])
  if (!isTaken) return false
  const isPending = (id: string) => findCandidate(kb.projection.read, id)?.status === 'pending'
  if (request !== undefined) {
    const prefix = gitOriginPrefix({ door: 'for', by: bareId(proposer), topic })
    const proposed = isOwn ? [] : pendingBelow(kb.projection.read, 'git', prefix).map(({ id }) => id)
    const candidates = [...new Set([...(row?.candidates.filter(isPending) ?? []), ...proposed])]
    await tellRequest(linked, { number: request.number, to, candidates, lines })
    // The pending candidates get pull requests of their own.
    if (row !== undefined) {
      await agree(linked, row, { state: 'merged', candidates: row.candidates.filter((id) => !isPending(id)) })
    }
  }
  const left: Step = { to, caller: callerOfLink(linked), option: 'submit', isLeftOut: true }
  return (await takeCommits(linked, { to, haves }, async () => [left])).isTaken
}

async function tellRequest(
  linked: Linked,
  {
    number,
    to,
    candidates,
    lines,
  }: { number: number; to: string; candidates: readonly string[]; lines: readonly string[] },
): Promise<void> {
  const { forge } = linked
  const marker = commentMarker(candidates[0] ?? '0', to)
  if ((await forge.remarksOf(number)).some(({ text }) => text.includes(marker))) return
  const needed = await neededApprovals(linked, candidates)
  const why = needed === undefined ? lines.map((line) => literal(line)).join('\n') : neededText(needed)
  const text = `${marker}\nThis was merged, and main in Ganglion does not have it yet: ${why}\n\nIt waits there, and in a pull request of its own.`
  await forge.comment(number, text.slice(0, forge.limits.remark).toWellFormed())
}
