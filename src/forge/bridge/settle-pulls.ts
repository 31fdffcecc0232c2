import { undefinedOn } from '../../contract/errors.ts'
import { isAncestor } from '../../git/history/history.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { dismissCandidate, reopenCandidate } from '../../queue/decide-candidate.ts'
import { type Candidate, lastVerdict } from '../../rules/candidates/candidate.ts'
import { oneLine } from '../../rules/text/lines.ts'
import type { ForgePull } from '../../state/forge-links.ts'
import { isForgeError, type PullRequest, unlessGone } from '../forge-adapter.ts'
import { pushBranches } from './join-mains.ts'
import { agree, attempt, branchPrefix, callerOfLink, dismissRestLabel, type Linked, type Seen } from './linked.ts'
import { commentMarker, isOwnRemark } from './remarks.ts'

/** Maximum number of accounts whose permissions are requested for one pull request. */
const maxAsked = 10
/** Maximum characters of a reason, as over the API. */
const maxReason = 2_000

type Status = 'pending' | 'approved' | 'dismissed'

/**
 * Brings candidates and pull requests to the same state. The last agreed state tells which side has changed: that side wins, and if both
 * have, the knowledge base wins.
 */
export async function settlePulls(linked: Linked, seen: Seen): Promise<void> {
  const { pulls, merging, unsure } = seen
  for (const row of [...seen.rows]) {
    if (merging.has(row) || (row.number !== null && unsure.has(row.number))) continue
    const status = statusOf(linked, row)
    if (status === undefined) continue
    await attempt(seen, async () => {
      if (status !== 'pending' && row.number === null && row.branch.startsWith(branchPrefix))
        await findPull(linked, seen, row)
      await settle(linked, row, { pull: row.number === null ? undefined : pulls.get(row.number), status })
    })
  }
}

/**
 * Finds the pull request of candidates that were decided on before its number was stored, as after a crash. If there is none, deletes
 * its branch and its row.
 */
async function findPull(linked: Linked, seen: Seen, row: ForgePull): Promise<void> {
  const { ctx, forge, link } = linked
  const pull = await forge.pullOfBranch(row.branch, link.branch)
  if (pull !== undefined) {
    seen.pulls.set(pull.number, pull)
    return agree(linked, row, { number: pull.number })
  }
  const from = seen.branches.get(row.branch)
  if (from !== undefined) await pushBranches(linked, seen, [{ ref: `refs/heads/${row.branch}`, from, to: undefined }])
  await ctx.forgePulls.remove(link.id, row.branch)
  seen.rows.splice(seen.rows.indexOf(row), 1)
}

/** Returns the common status of the candidates of a pull request: pending if one of them is. */
function statusOf({ kb }: Linked, { candidates }: ForgePull): Status | undefined {
  const statuses = candidates.flatMap((id) => findCandidate(kb.projection.read, id)?.status ?? [])
  if (statuses.length === 0) return undefined
  if (statuses.includes('pending')) return 'pending'
  return statuses.includes('approved') ? 'approved' : 'dismissed'
}

async function settle(
  linked: Linked,
  row: ForgePull,
  { pull, status }: { pull: PullRequest | undefined; status: Status },
): Promise<void> {
  if (row.number === null || row.state === 'merged') return
  const isElsewhere = pull !== undefined && pull.base !== linked.link.branch
  if (isElsewhere && (pull.state === 'merged' || !row.branch.startsWith(branchPrefix))) {
    // A pull request with another base decides nothing here; its pending candidates get another one.
    return pull.state === 'open' ? undefined : agree(linked, row, { state: pull.state, candidates: [] })
  }
  if (pull?.state === 'merged') {
    if (status !== 'pending') await agree(linked, row, { state: 'merged' })
    else await leaveOut(linked, row, pull)
    return
  }
  const isOpen = pull?.state === 'open'
  if (status === 'pending') {
    if (isOpen) return row.state === 'open' ? undefined : agree(linked, row, { state: 'open' })
    if (row.state === 'open') await dismissAsThere(linked, row, pull)
    else await reopenAsHere(linked, row, row.number)
    return
  }
  if (isOpen && status === 'dismissed' && row.state === 'closed') return reopenAsThere(linked, row)
  if (isOpen) await closeAsHere(linked, row)
  if (row.state === 'open' || isOpen) await agree(linked, row, { state: 'closed' })
}

/**
 * Handles a pull request that was merged without some of its pages: they get a pull request of their own, or are dismissed if a label says
 * so. If main cannot be taken, nothing changes; `joinMains` reports that.
 */
async function leaveOut(linked: Linked, row: ForgePull, { mergeCommit, labels, url }: PullRequest): Promise<void> {
  const { kb, ctx } = linked
  const main = await kb.repository.readRef(mainRef)
  if (mergeCommit === undefined || main === undefined) return
  if (!(await isAncestor(kb.repository, mergeCommit, main))) return
  const isLeft = (id: string) => findCandidate(kb.projection.read, id)?.status === 'pending'
  for (const id of labels.includes(dismissRestLabel) ? row.candidates.filter(isLeft) : []) {
    const reason = `Left out when ${url} was merged.`
    // A curator may decide first; the next comparison then finds the candidate decided.
    await dismissCandidate(ctx, callerOfLink(linked), id, { reason }).catch(undefinedOn())
  }
  await agree(linked, row, { state: 'merged', candidates: row.candidates.filter((id) => !isLeft(id)) })
}

/** Dismisses candidates whose pull request was closed on the forge. */
async function dismissAsThere(linked: Linked, row: ForgePull, pull: PullRequest | undefined): Promise<void> {
  const caller = callerOfLink(linked)
  const said = pull && (await lastWordOn(linked, pull))
  const reason = (said ?? `Closed on the forge: ${pull?.url ?? linked.link.url}`).slice(0, maxReason).toWellFormed()
  for (const candidateId of row.candidates) {
    await dismissCandidate(linked.ctx, caller, candidateId, { reason }).catch(undefinedOn())
  }
  await agree(linked, row, { state: 'closed' })
}

/** Returns the last remark of somebody who may close the pull request, since forges do not tell who closed it. */
async function lastWordOn({ forge, me }: Linked, { number, author }: PullRequest): Promise<string | undefined> {
  const verdicts = new Map([[author.id, true]])
  for (const remark of (await forge.remarksOf(number)).reverse()) {
    const { author: by, text } = remark
    if (isOwnRemark(remark, me) || text.trim() === '') continue
    if (!verdicts.has(by.id) && verdicts.size > maxAsked) return undefined
    const may = verdicts.get(by.id) ?? (await forge.mayClose(by.id))
    if (may) return text.trim()
    verdicts.set(by.id, false)
  }
  return undefined
}

/** Reopens candidates whose pull request was reopened on the forge. */
async function reopenAsThere(linked: Linked, row: ForgePull): Promise<void> {
  const caller = callerOfLink(linked)
  for (const candidateId of row.candidates) {
    await reopenCandidate(linked.ctx, caller, candidateId).catch(undefinedOn())
  }
  await agree(linked, row, { state: 'open' })
}

/** Closes the pull request of candidates that were decided here, with a comment that says how. */
async function closeAsHere(linked: Linked, { number, candidates }: ForgePull): Promise<void> {
  const { forge } = linked
  if (number === null) return
  const said = []
  for (const candidateId of candidates) said.push(await verdictOn(linked, candidateId))
  const marker = commentMarker(candidates[0] ?? '', said.at(-1)?.at ?? '-')
  const there = await forge.remarksOf(number)
  if (!there.some(({ text }) => text.includes(marker))) {
    await forge.comment(number, [marker, ...said.map(({ text }) => text)].join('\n').slice(0, forge.limits.remark))
  }
  await forge.close(number)
}

async function verdictOn(linked: Linked, candidateId: string): Promise<{ text: string; at: string }> {
  const row = findCandidate(linked.kb.projection.read, candidateId)
  if (row?.approval !== undefined) {
    const { seqId, commit } = row.approval
    return { text: `Approved in Ganglion: ${seqId}, commit ${commit}.`, at: commit }
  }
  const verdict = lastVerdict((await recordOf(linked, candidateId)) ?? { decisions: [] })
  const by = oneLine(verdict?.by.name ?? 'a curator', 100)
  return {
    text: `Dismissed by ${by}${verdict?.reason === undefined ? '.' : `: ${verdict.reason}`}`,
    at: verdict?.at ?? '-',
  }
}

/**
 * Reopens the pull request of candidates that were reopened here. It stays closed if its branch is gone, and may have been deleted: the
 * candidate then gets another one.
 */
async function reopenAsHere(linked: Linked, row: ForgePull, number: number): Promise<void> {
  try {
    await linked.forge.reopen(number)
  } catch (error) {
    const isLost = isForgeError(error, 'gone') && (await linked.forge.pull(number).catch(unlessGone)) === undefined
    if (!isForgeError(error, 'conflict') && !isLost) throw error
    return agree(linked, row, { candidates: [] })
  }
  await agree(linked, row, { state: 'open' })
}

async function recordOf({ kb }: Linked, candidateId: string): Promise<Candidate | undefined> {
  const row = findCandidate(kb.projection.read, candidateId)
  return row && parseCandidate(await kb.repository.readText(row.blob))
}
