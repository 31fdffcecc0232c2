import type { PullRequest } from '../../forge/forge.ts'
import type { ForgePull } from '../../store/forge-pulls.ts'
import { findCandidate, pendingBelow } from '../../store/projection/candidate-index.ts'
import { bareId } from '../caller.ts'
import { originPrefix } from '../push/git-candidate.ts'
import {
  agree,
  branchPrefix,
  callerOfAccount,
  callerOfLink,
  type Linked,
  mainBranch,
  newRow,
  publicUrl,
  type Seen,
} from './linked.ts'
import { changeOf } from './show-candidates.ts'
import { takeCommits } from './take-pack.ts'

/**
 * Makes candidates of what people propose on the forge: of their own pull requests, and of commits that they add to the branches of
 * ours, which revise what those propose.
 */
export async function hearPeople(linked: Linked, seen: Seen): Promise<void> {
  for (const pull of seen.pulls.values()) {
    if (pull.state !== 'open' || pull.isDraft) continue
    if (!isOurs(pull) && pull.base === mainBranch) await hearPull(linked, seen, pull)
  }
  for (const row of seen.rows) {
    const head = seen.branches.get(row.branch)
    if (row.state === 'open' && head !== undefined && head !== row.head) await hearEdit(linked, row, head)
  }
}

function isOurs({ branch, isOwnBranch }: PullRequest): boolean {
  return isOwnBranch && branch.startsWith(branchPrefix)
}

async function hearPull(linked: Linked, seen: Seen, { number, head, author, url }: PullRequest): Promise<void> {
  const { forge, kb, ganglion } = linked
  const branch = forge.headRef(number)
  const known = seen.rows.find((row) => row.branch === branch)
  if (known?.head === head) return
  const caller = callerOfAccount(linked, author.id)
  const topic = `${forge.kind}-${number}`
  const { isTaken, lines } = await takeCommits(linked, caller, {
    to: head,
    option: `topic=${topic}`,
    haves: havesOf(linked, seen),
  })
  await kb.sync()
  const prefix = originPrefix({ door: 'for', by: bareId(caller), topic })
  const pending = pendingBelow(kb.projection.read, 'git', prefix).map(({ id }) => id)
  const candidates = [...new Set([...(known?.candidates ?? []), ...pending])]
  const [first] = candidates
  await forge.report({
    ...{ number, head, findings: [] },
    outcome: isTaken ? 'waiting' : 'failed',
    title: isTaken ? `${candidates.length} pages wait for a curator` : 'This cannot be taken as it is',
    summary: [...lines.map((line) => `    ${line}`), '', url].join('\n').slice(0, forge.limits.body),
    url: first === undefined ? undefined : publicUrl(ganglion.queueUrl(first)),
  })
  const row = known ?? newRow(branch, number)
  if (known === undefined) seen.rows.push(row)
  await agree(linked, row, { candidates, head, number })
}

/** A reviewer's commits are part of what is approved: they revise the candidate, and its branch stays as the reviewer left it. */
async function hearEdit(linked: Linked, row: ForgePull, head: string): Promise<void> {
  const { kb } = linked
  const isPending = row.candidates.some((id) => findCandidate(kb.projection.read, id)?.status === 'pending')
  if (!isPending) return
  await takeCommits(linked, callerOfLink(linked), {
    to: head,
    option: `topic=${linked.forge.kind}`,
    haves: [row.head ?? head],
  })
  await kb.sync()
  const own = await linked.ganglion.candidateRefs(kb).headOf(row.candidates[0] ?? '')
  await agree(linked, row, { head, change: own === undefined ? null : await changeOf(kb, own) })
}

function havesOf({ link }: Linked, { branches }: Seen): string[] {
  return [branches.get(mainBranch), link.main].filter((oid) => oid !== undefined && oid !== null)
}
