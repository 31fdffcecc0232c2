import { createHash } from 'node:crypto'
import { ForgeError } from '../../forge/forge-error.ts'
import { type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import { slugify } from '../../knowledge/paths/slug.ts'
import type { ForgePull } from '../../store/forge-pulls.ts'
import { type CandidateRow, findCandidate, firstPending } from '../../store/projection/candidate-index.ts'
import type { KnowledgeBase } from '../knowledge-base/knowledge-base.ts'
import { seenOf } from '../review/seen.ts'
import { pushBranches } from './join-mains.ts'
import { agree, branchPrefix, callerOfLink, type Linked, mainBranch, newRow, type Seen } from './linked.ts'
import { reportOf } from './pull-report.ts'
import { type PullText, pullText } from './pull-text.ts'

/** The random end of a candidate's id, which tells apart all that wait at a time. */
const shortIdLength = 8
/** Bytes. */
const maxSlug = 50

/** Gives each waiting candidate, the most urgent first, a branch and a pull request, and brings those that have one up to date. */
export async function showCandidates(linked: Linked, seen: Seen): Promise<void> {
  const known = new Set(seen.rows)
  for (const row of nextRows(linked, seen)) {
    seen.rows.push(row)
    await agree(linked, row, {})
  }
  const shown = seen.rows.flatMap((row) => {
    const candidate = row.branch.startsWith(branchPrefix) ? waitingOf(linked, row) : undefined
    return row.state === 'open' && candidate !== undefined ? [{ row, candidate }] : []
  })
  await showBranches(
    linked,
    seen,
    shown.map(({ row }) => row),
  )
  for (const { row, candidate } of shown) {
    if (row.head === null) continue
    if (row.number === null) await openPull(linked, seen, { row, candidate, mayBeOpen: known.has(row) })
    else await showText(linked, row, candidate)
    await showReport(linked, row, candidate)
  }
}

function waitingOf({ kb }: Linked, { candidates: [id = ''] }: ForgePull): CandidateRow | undefined {
  const candidate = findCandidate(kb.projection.read, id)
  return candidate?.status === 'pending' ? candidate : undefined
}

/** Rows for the candidates that get a pull request now. */
function nextRows({ kb, link }: Linked, { rows }: Seen): ForgePull[] {
  const { read: sql } = kb.projection
  const open = rows.filter(({ state, branch }) => state === 'open' && branch.startsWith(branchPrefix)).length
  const held = new Set(rows.flatMap(({ candidates }) => candidates))
  const taken = new Set(rows.map(({ branch }) => branch))
  const room = Math.max(0, link.maxOpen - open)
  const next = firstPending(sql, held.size + room).filter((id) => !held.has(id))
  return next.slice(0, room).map((id) => {
    const branch = branchOf(id, findCandidate(sql, id)?.title ?? '')
    return { ...newRow(taken.has(branch) ? `${branchPrefix}${id}` : branch, null), candidates: [id] }
  })
}

function branchOf(candidateId: string, title: string): string {
  return `${branchPrefix}${candidateId.slice(-shortIdLength)}-${slugify(title, maxSlug)}`
}

/**
 * Pushes the heads of candidates. A head is made anew for each move of main; it is pushed only if what it changes is not what the
 * branch changes, so that reviews of it stay.
 */
async function showBranches(linked: Linked, seen: Seen, rows: readonly ForgePull[]): Promise<void> {
  const { kb, ganglion } = linked
  const moves: { row: ForgePull; to: Oid; change: string }[] = []
  for (const row of rows) {
    const to = await ganglion.candidateRefs(kb).headOf(row.candidates[0] ?? '')
    if (to === undefined) continue
    const change = await changeOf(kb, to)
    if (change !== row.change || !seen.branches.has(row.branch)) moves.push({ row, to, change })
  }
  const updates = moves.map(({ row: { branch }, to }) => {
    return { ref: `refs/heads/${branch}`, from: seen.branches.get(branch), to }
  })
  const refused = await pushBranches(
    linked,
    seen,
    updates.filter(({ from, to }) => from !== to),
  )
  for (const { row, to, change } of moves) {
    // Somebody has moved it since it was looked at: the next comparison hears what they did.
    if (!refused.has(`refs/heads/${row.branch}`)) await agree(linked, row, { head: to, change })
  }
}

/** What a head changes, whatever commit it stands on. */
export async function changeOf({ repository }: KnowledgeBase, head: Oid): Promise<string> {
  const [parent] = parentsOfCommit((await repository.read(head)).data)
  const changes = []
  for await (const change of repository.diffCommits(parent, head)) changes.push(change)
  return digestOf(changes)
}

async function openPull(
  linked: Linked,
  { pulls }: Seen,
  { row, candidate, mayBeOpen }: { row: ForgePull; candidate: CandidateRow; mayBeOpen: boolean },
): Promise<void> {
  const { forge } = linked
  const { branch } = row
  const text = await textOf(linked, candidate)
  const known = mayBeOpen ? await forge.pullOfBranch(branch) : undefined
  const { labels, title, body } = text
  const isDraft = candidate.zone === 'red'
  const pull = known ?? (await opened(linked, { branch, base: mainBranch, title, body, labels, isDraft }))
  pulls.set(pull.number, pull)
  await agree(linked, row, { number: pull.number, seen: seenKey(linked, row, candidate), text: digestOf(text) })
}

async function opened({ forge }: Linked, pull: Parameters<Linked['forge']['open']>[0]) {
  try {
    return await forge.open(pull)
  } catch (error) {
    if (!(error instanceof ForgeError && error.code === 'conflict')) throw error
    const known = await forge.pullOfBranch(pull.branch)
    if (known === undefined) throw error
    return known
  }
}

async function showText(linked: Linked, row: ForgePull, candidate: CandidateRow): Promise<void> {
  const { forge } = linked
  const seen = seenKey(linked, row, candidate)
  if (row.number === null || row.seen === seen) return
  const text = await textOf(linked, candidate)
  if (digestOf(text) !== row.text) await forge.update(row.number, text)
  await agree(linked, row, { seen, text: digestOf(text) })
}

/** What a text is made of: while it stays, the text is not made again. */
function seenKey({ kb }: Linked, { change }: ForgePull, candidate: CandidateRow): string {
  return digestOf([seenOf(kb.projection.read, candidate), change])
}

function textOf(linked: Linked, candidate: CandidateRow): Promise<PullText> {
  const { ganglion, forge } = linked
  return pullText(ganglion, callerOfLink(linked), candidate, forge.limits)
}

async function showReport(linked: Linked, row: ForgePull, candidate: CandidateRow): Promise<void> {
  const { number, head, reported } = row
  if (number === null || head === null || reported === head) return
  // What a reviewer committed is tidied away in time.
  const isHere = (await linked.kb.repository.find(head)) !== undefined
  if (isHere) await linked.forge.report(await reportOf(linked, { number, head, candidate }))
  await agree(linked, row, { reported: head })
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}
