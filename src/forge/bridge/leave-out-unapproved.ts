import { findCandidate, pendingBelow } from '../../kb/projection/candidate-index.ts'
import { gitOriginPrefix } from '../../kb/writing/git-candidate.ts'
import { bareId } from '../../rules/access/caller.ts'
import { literal } from '../../rules/text/literal.ts'
import { agree, branchPrefix, callerOfAccount, callerOfLink, type Linked, type Seen } from './linked.ts'
import { commentMarker } from './marker.ts'
import { neededApprovals, neededText } from './needed-approvals.ts'
import { havesOf, type Step, takeCommits } from './take-pack.ts'

/**
 * Sets aside commits that were merged or pushed on the forge and still need approval: they wait as candidates, main continues without them,
 * and the request gets a report. Returns false, and changes nothing in main, if one of them cannot be a candidate.
 */
export async function leaveOutUnapproved(
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
