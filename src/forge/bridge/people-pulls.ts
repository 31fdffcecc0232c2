import { GitError } from '../../git/git-error.ts'
import { mergeBase } from '../../git/history/history.ts'
import type { Oid } from '../../git/objects/object.ts'
import { PushTooLarge, pushedChanges } from '../../git/pushed-objects.ts'
import type { Repository } from '../../git/repository.ts'
import { findCandidate, pendingBelow } from '../../kb/projection/candidate-index.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { gitOriginPrefix } from '../../kb/writing/pushed-neurons.ts'
import { candidateHeads } from '../../queue/heads/candidate-refs.ts'
import { bareId, type Caller } from '../../rules/access/caller.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { literalBlock } from '../../rules/text/literal.ts'
import type { ForgePull } from '../../state/forge-links.ts'
import { isForgeError, type PullRequest, type Report } from '../forge-adapter.ts'
import {
  agree,
  attempt,
  branchPrefix,
  callerOfAccount,
  callerOfLink,
  isWithin,
  type Linked,
  newRow,
  ownLabel,
  publicUrl,
  type Seen,
} from './linked.ts'
import {
  type Needed,
  neededApprovals,
  neededForFiles,
  refusedKey,
  reportKey,
  requestOwners,
} from './needed-approvals.ts'
import { outcomeOf } from './pull-report.ts'
import { isOwnRemark, pullOf, reportMarker } from './remarks.ts'
import { forgeChange } from './show-candidates.ts'
import { havesOf, type Taken, takeCommits } from './take-pack.ts'

type Told = Taken &
  Pick<Report, 'number' | 'head' | 'branch'> & {
    candidates: readonly string[]
    needed: Needed | undefined
    /** True if an earlier commit of the request may have a comment about its rejection. */
    mayBeTold: boolean
  }

/** Imports pull requests of people as candidates. Both mains must have been compared, since the requests are based on the forge's. */
export async function importProposals(linked: Linked, seen: Seen): Promise<void> {
  const branches = new Set(seen.rows.map(({ branch }) => branch))
  const isOurs = isMadeByLink(linked, seen)
  // After a restore, requests that we opened for candidates missing in the backup are imported like those of people.
  const isLost = (pull: PullRequest) => linked.kb.projection.seqFloor() > 0 && !branches.has(pull.branch)
  const isProposal = (pull: PullRequest) =>
    pull.base === linked.link.branch && (isOurs(pull) ? isLost(pull) : isTrusted(pull))
  const theirs = [...seen.pulls.values()].filter((pull) => pull.state === 'open' && isProposal(pull))
  for (const pull of theirs) {
    await attempt(seen, () => hearPull(linked, seen, pull))
  }
}

/** Revises candidates with the commits that people add to the branches of our pull requests, also of those merged since. */
export async function importEdits(linked: Linked, seen: Seen): Promise<void> {
  const isRestored = linked.kb.projection.seqFloor() > 0
  for (const row of seen.rows) {
    const head = seen.branches.get(row.branch)
    // A branch may end in an approval that a restore has lost but main contains.
    const isTaken = isRestored && seen.pulls.get(row.number ?? 0)?.state === 'merged'
    if (row.state === 'open' && head !== undefined && head !== row.head && !isTaken) {
      await attempt(seen, () => hearEdit(linked, seen, row, head))
    }
  }
}

/** Distinguishes requests that the link has opened from those of people, whose branches may be named `ganglion/…`, too. */
function isMadeByLink({ me }: Linked, { rows }: Seen): (pull: PullRequest) => boolean {
  const ours = new Set(rows.flatMap(({ branch, number }) => (branch.startsWith(branchPrefix) ? [number] : [])))
  return ({ number, author, branch, body }) =>
    ours.has(number) || (author.id === me && branch.startsWith(branchPrefix) && pullOf(body) !== undefined)
}

/**
 * True if a request may be imported. Accounts that may push to the repository may propose, as curators may with git. A request from a fork
 * is ignored until somebody with rights to the repository labels it.
 */
function isTrusted({ isOwnBranch, labels, isDraft }: PullRequest): boolean {
  return !isDraft && (isOwnBranch || labels.includes(ownLabel))
}

async function hearPull(linked: Linked, seen: Seen, { number, head, author, branch }: PullRequest): Promise<void> {
  const { forge } = linked
  const caller = callerOfAccount(linked, author.id)
  const asked = { ref: forge.headRef(number), head, caller, topic: `${forge.kind}-${number}`, number }
  const mayBeTold = seen.rows.some((row) => row.branch === asked.ref)
  const { row, taken, needed } = await hearCommits(linked, seen, asked)
  if (taken === undefined) return
  await reportTaken(linked, { ...taken, number, head, branch, candidates: row.candidates, needed, mayBeTold })
  await requestOwners(linked, number, needed)
  await agree(linked, row, { reported: taken.isTaken ? reportKey(head, needed) : refusedKey(head) })
}

/**
 * Turns commits pushed to the forge's main into candidates if main takes no pushes. Once the forge's main has been taken, pending ones get
 * pull requests.
 * @returns a problem that a person must resolve
 */
export async function importMain(linked: Linked, seen: Seen, problem: string | undefined): Promise<string | undefined> {
  const { kb, forge, ctx, link } = linked
  const ref = `refs/heads/${link.branch}`
  const head = seen.branches.get(link.branch)
  const ours = await kb.repository.readRef(mainRef)
  if (head === undefined || (ours !== undefined && (await isWithin(linked, head, ours)))) {
    const at = seen.rows.findIndex(({ branch }) => branch === ref)
    if (at >= 0) await ctx.forgePulls.remove(link.id, ref)
    if (at >= 0) seen.rows.splice(at, 1)
    return problem
  }
  if (!(await kb.settings()).protectMain) return problem
  const asked = { ref, head, caller: callerOfLink(linked), topic: `${forge.kind}-main`, number: null }
  const { row, taken, needed } = await hearCommits(linked, seen, asked)
  if (taken?.isTaken === false) return `main on the forge cannot be taken: ${taken.lines.join(' · ')}`
  await agree(linked, row, { reported: reportKey(head, needed) })
  return problem
}

type Heard = { ref: string; head: Oid; caller: Caller; topic: string; number: number | null }

/** Imports commits as candidates. @returns the outcome, unless it was already imported and reported */
async function hearCommits(
  linked: Linked,
  seen: Seen,
  { ref, head, caller, topic, number }: Heard,
): Promise<{ row: ForgePull; taken: Taken | undefined; needed: Needed | undefined }> {
  const { kb } = linked
  const known = seen.rows.find((row) => row.branch === ref)
  if (known?.head === head) {
    const needed = await neededApprovals(linked, known.candidates)
    if ([reportKey(head, needed), refusedKey(head)].includes(known.reported ?? ''))
      return { row: known, taken: undefined, needed }
  }
  const step = { to: head, caller, option: `topic=${topic}` }
  let paths: string[] = []
  const taken = await takeCommits(linked, { to: head, haves: await havesOf(linked, seen) }, async (repository) => {
    paths = await changedPaths(linked, repository, head)
    return [step]
  })
  await kb.sync()
  const prefix = gitOriginPrefix({ door: 'for', by: bareId(caller), topic })
  const pending = pendingBelow(kb.projection.read, 'git', prefix).map(({ id }) => id)
  const candidates = [...new Set([...(known?.candidates ?? []), ...pending])]
  const row = known ?? newRow(ref, number)
  if (known === undefined) seen.rows.push(row)
  // First marks the candidates as part of this request: otherwise they would get pull requests of their own.
  await agree(linked, row, { candidates, head, number })
  const needed = taken.isTaken
    ? await neededApprovals(linked, candidates)
    : taken.mayMerge === true
      ? await neededForFiles(linked, paths)
      : undefined
  return { row, taken, needed }
}

/** Returns the files that a request changes; none if it changes too many to be imported. */
async function changedPaths({ kb }: Linked, repository: Repository, head: Oid): Promise<string[]> {
  const main = await kb.repository.readRef(mainRef)
  try {
    const base = main && (await mergeBase(repository, main, head))
    return base === undefined ? [] : (await pushedChanges(repository, base, head)).map(({ path }) => path)
  } catch (error) {
    if (error instanceof PushTooLarge || error instanceof GitError) return []
    throw error
  }
}

/**
 * Imports a reviewer's commits, which are part of what is approved: they revise the candidate, and the branch stays as the reviewer left
 * it.
 */
async function hearEdit(linked: Linked, seen: Seen, row: ForgePull, head: string): Promise<void> {
  const { kb, ctx, forge } = linked
  const waiting = row.candidates.filter((id) => findCandidate(kb.projection.read, id)?.status === 'pending')
  if (waiting.length === 0) return
  const step = { to: head, caller: callerOfLink(linked), option: `topic=${forge.kind}` }
  const taken = await takeCommits(linked, { to: head, haves: await havesOf(linked, seen) }, async () => [step])
  await kb.sync()
  const needed = await neededApprovals(linked, waiting)
  if (row.number !== null && taken.isTaken) await reportRepaired(linked, row.number)
  if (row.number !== null && !taken.isTaken) {
    const commit = { number: row.number, head, branch: row.branch }
    await reportTaken(linked, { ...taken, ...commit, mayMerge: false, candidates: waiting, needed, mayBeTold: true })
  }
  const own = await candidateHeads(kb, ctx).headOf(waiting.join('+'))
  await agree(linked, row, {
    head,
    reported: taken.isTaken ? null : reportKey(head, needed),
    change: own === undefined ? null : await forgeChange(kb, own, waiting.length),
  })
}

/** Reports the outcome of commits that people have written; a rejection also as a comment if the forge shows no summary. */
async function reportTaken(linked: Linked, { isTaken, mayMerge = false, ...told }: Told): Promise<void> {
  const { forge, ctx } = linked
  const { lines, candidates, needed, number, head, branch, mayBeTold } = told
  const [first] = candidates
  const count = candidates.length === 1 ? '1 page waits' : `${candidates.length} pages wait`
  const who = needed === undefined ? 'a curator' : `approval. ${awaitingText(needed.awaiting)}`
  const there = `It is decided on here alone${needed === undefined ? '' : `. ${awaitingText(needed.awaiting)}`}`
  const isRefused = !isTaken && !mayMerge
  const title = isRefused ? 'This cannot be taken as it is' : isTaken ? `${count} for ${who}` : there
  const outcome = isRefused ? 'failed' : outcomeOf(needed)
  const summary = literalBlock(lines.join('\n'), '').slice(0, forge.limits.body)
  const url = first === undefined ? undefined : publicUrl(ctx.urls.candidate(first))
  await forge.report({ number, head, branch, findings: [], outcome, title, summary, url })
  if (forge.showsSummary || (isTaken && !mayBeTold)) return
  const note = isTaken
    ? ''
    : mayMerge
      ? 'Merging it takes it. It does not wait in Ganglion, since:'
      : 'Push a commit that mends this:'
  await commentInPlace(linked, number, { text: [`**${title}.**`, note, isTaken ? '' : summary], isNew: !isTaken })
}

/** Updates the comment about a rejection, if there is one, to say that the request is accepted now. */
async function reportRepaired(linked: Linked, number: number): Promise<void> {
  if (linked.forge.showsSummary) return
  await commentInPlace(linked, number, { text: ['**This can be taken now.**'], isNew: false })
}

/** Writes the link's one status comment on a request, or replaces its text. `isNew`: writes one if there is none. */
async function commentInPlace(
  { forge, me }: Linked,
  number: number,
  { text, isNew }: { text: readonly string[]; isNew: boolean },
): Promise<void> {
  const marker = reportMarker(number)
  const body = [marker, ...text.filter((part) => part !== '')].join('\n\n').slice(0, forge.limits.remark).toWellFormed()
  const known = (await forge.remarksOf(number)).find(
    (remark) => isOwnRemark(remark, me) && remark.text.includes(marker),
  )
  if (known?.text === body) return
  try {
    if (known !== undefined) return await forge.editComment(number, known.id, body)
  } catch (error) {
    if (!isForgeError(error, 'gone')) throw error
  }
  if (isNew) await forge.comment(number, body)
}
