import { createHash } from 'node:crypto'
import { type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { type CandidateRow, findCandidate, firstPending } from '../../kb/projection/candidate-index.ts'
import { undoConnector } from '../../kb/projection/candidate-queue.ts'
import { largestBundle } from '../../kb/refs/candidate-head-names.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { candidateHeads } from '../../queue/heads/candidate-refs.ts'
import { seenOf } from '../../queue/heads/judged-head.ts'
import { slugify } from '../../rules/paths/slug.ts'
import type { ForgePull } from '../../state/forge-links.ts'
import { isForgeError } from '../forge-adapter.ts'
import { pushBranches } from './join-mains.ts'
import { agree, attempt, branchPrefix, callerOfLink, type Linked, newRow, type Seen } from './linked.ts'
import { type Needed, neededApprovals, reportKey, requestOwners } from './needed-approvals.ts'
import { reportOf } from './pull-report.ts'
import { type PullText, pullText } from './pull-text.ts'

/** Push, Source or lint run from which several candidates came. `name`: title of their common pull request. */
type Whole = { key: string; name: string }

/** Length of the random end of a candidate's id, which identifies it among pending ones. */
const shortIdLength = 8
/** Maximum bytes of a slug in a branch name. */
const maxSlug = 50

/** Pull request that is open, or will be opened, with its pending candidates. */
type Shown = { row: ForgePull; waiting: readonly [CandidateRow, ...CandidateRow[]]; needed: Needed | undefined }

/** Opens a branch and a pull request for each pending candidate, the most urgent first, and updates the existing ones. */
export async function showCandidates(linked: Linked, seen: Seen): Promise<void> {
  const known = new Set(seen.rows)
  const there = new Set(seen.branches.keys())
  for (const row of await nextRows(linked, seen)) {
    seen.rows.push(row)
    await agree(linked, row, {})
  }
  const shown: Shown[] = []
  for (const row of seen.rows) {
    const [first, ...others] = row.branch.startsWith(branchPrefix) ? waitingOf(linked, row) : []
    if (row.state !== 'open' || first === undefined || seen.renamed.has(row)) continue
    const needed = await neededApprovals(linked, row.candidates)
    shown.push({ row, waiting: [first, ...others], needed })
  }
  await showBranches(linked, seen, shown)
  for (const each of shown) {
    if (each.row.head === null) continue
    await attempt(seen, async () => {
      if (each.row.number === null)
        await openPull(linked, seen, each, known.has(each.row) || there.has(each.row.branch))
      await showText(linked, each)
      await showReport(linked, each)
    })
  }
}

function waitingOf({ kb }: Linked, { candidates }: ForgePull): CandidateRow[] {
  const rows = candidates.flatMap((id) => findCandidate(kb.projection.read, id) ?? [])
  return rows.filter(({ status }) => status === 'pending')
}

/** Returns rows for the candidates that get a pull request now. */
async function nextRows({ kb, link }: Linked, { rows }: Seen): Promise<ForgePull[]> {
  const { read: sql } = kb.projection
  const open = rows.filter(({ state, branch }) => state === 'open' && branch.startsWith(branchPrefix)).length
  const room = link.maxOpen - open
  if (room <= 0) return []
  const held = new Set(rows.flatMap(({ candidates }) => candidates))
  const taken = new Set(rows.map(({ branch }) => branch))
  const next = firstPending(sql, held.size + room * largestBundle).filter((id) => !held.has(id))
  return (await bundled(kb, next)).slice(0, room).map((candidates) => {
    const [id = ''] = candidates
    const branch = freeBranch(branchOf(id, findCandidate(sql, id)?.title ?? ''), taken)
    return { ...newRow(branch, null), candidates }
  })
}

/** Returns a branch name that no request of ours has used: a merged branch could not be merged again. */
function freeBranch(branch: string, taken: ReadonlySet<string>): string {
  let free = branch
  for (let n = 2; taken.has(free); n++) free = `${branch}-${n}`
  return free
}

function branchOf(candidateId: string, title: string): string {
  return `${branchPrefix}${candidateId.slice(-shortIdLength)}-${slugify(title, maxSlug)}`
}

/**
 * Pushes the heads of candidates. A head is rebuilt whenever main moves, but pushed only if its change differs from the branch's, so that
 * reviews stay valid.
 */
async function showBranches(linked: Linked, seen: Seen, shown: readonly Shown[]): Promise<void> {
  const moves: { row: ForgePull; to: Oid; change: string }[] = []
  for (const { row, waiting } of shown) {
    const to = (await headOf(linked, waiting)) ?? (await splitUp(linked, row, waiting))
    if (to === undefined) continue
    const change = await forgeChange(linked.kb, to, waitingOf(linked, row).length)
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
    // A rejected branch was moved by somebody meanwhile: the next comparison imports their commits.
    if (!refused.has(`refs/heads/${row.branch}`)) await agree(linked, row, { head: to, change })
  }
}

function headOf({ kb, ctx }: Linked, waiting: readonly CandidateRow[]): Promise<Oid | undefined> {
  return candidateHeads(kb, ctx).headOf(waiting.map(({ id }) => id).join('+'))
}

/** Separates candidates that conflict with each other: the first keeps the pull request. */
async function splitUp(linked: Linked, row: ForgePull, [first, ...others]: Shown['waiting']): Promise<Oid | undefined> {
  if (others.length === 0) return undefined
  const left = new Set(others.map(({ id }) => id))
  await agree(linked, row, { candidates: row.candidates.filter((id) => !left.has(id)) })
  return headOf(linked, [first])
}

/** Returns a hash of the change of a head in all its commits, independent of the commit of main below them. */
export async function forgeChange({ repository }: KnowledgeBase, head: Oid, commits: number): Promise<string> {
  let base: Oid | undefined = head
  for (let n = 0; n < commits && base !== undefined; n++) [base] = parentsOfCommit((await repository.read(base)).data)
  const changes = []
  for await (const change of repository.diffCommits(base, head)) changes.push(change)
  return digestOf(changes)
}

async function openPull(linked: Linked, { pulls }: Seen, shown: Shown, mayBeOpen: boolean): Promise<void> {
  const { forge, link } = linked
  const { row, waiting } = shown
  const { branch } = row
  let known = mayBeOpen ? await forge.pullOfBranch(branch, link.branch) : undefined
  if (known === undefined) {
    const text = await textOf(linked, shown)
    try {
      const pull = await forge.open({ branch, base: link.branch, ...text, isDraft: waiting[0].zone === 'red' })
      pulls.set(pull.number, pull)
      await agree(linked, row, { number: pull.number, seen: seenKey(linked, shown), text: digestOf(text) })
      return requestOwners(linked, pull.number, shown.needed)
    } catch (error) {
      if (!isForgeError(error, 'conflict')) throw error
      known = await forge.pullOfBranch(branch, link.branch)
      if (known?.state !== 'open') throw error
    }
  }
  pulls.set(known.number, known)
  // A closed pull request may date from before the candidate's dismissal: it is reopened.
  await agree(linked, row, { number: known.number, state: known.state === 'closed' ? 'closed' : 'open' })
}

async function showText(linked: Linked, shown: Shown): Promise<void> {
  const { row } = shown
  const seen = seenKey(linked, shown)
  if (row.number === null || row.state !== 'open' || row.seen === seen) return
  const text = await textOf(linked, shown)
  const { title, body } = text
  // A pull request that was found rather than opened may lack its labels.
  const changes = row.text === null ? text : { title, body }
  if (digestOf(text) !== row.text) {
    await linked.forge.update(row.number, changes)
    await requestOwners(linked, row.number, shown.needed)
  }
  await agree(linked, row, { seen, text: digestOf(text) })
}

/** Returns a key of everything that a text is built from. The text is rebuilt only if the key changes. */
function seenKey({ kb, isPublic }: Linked, { row, waiting, needed }: Shown): string {
  const seen = waiting.map((candidate) => seenOf(kb.projection.read, candidate))
  return digestOf([...seen, row.change, isPublic, ...(needed === undefined ? [] : [needed])])
}

async function textOf({ ctx, kb, forge, link, isPublic }: Linked, { waiting, needed }: Shown): Promise<PullText> {
  const whole = waiting.length === 1 ? undefined : await wholeOf(kb, waiting[0].id)
  return pullText(ctx, callerOfLink({ link, forge }), waiting, {
    limits: forge.limits,
    whole: whole?.name,
    isPublic,
    needed,
  })
}

async function showReport(linked: Linked, { row, waiting, needed }: Shown): Promise<void> {
  const { number, head, reported } = row
  if (number === null || head === null || reported === reportKey(head, needed)) return
  // A reviewer's commits may have been garbage-collected.
  const isHere = (await linked.kb.repository.find(head)) !== undefined
  if (isHere)
    await linked.forge.report(
      await reportOf(linked, { number, head, branch: row.branch, candidate: waiting[0], needed }),
    )
  await agree(linked, row, { reported: reportKey(head, needed) })
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

/**
 * Groups candidates of one Source, one push, or one lint run. A bundle has at most six, all of one zone. Bundles keep the order of their
 * first candidates.
 */
async function bundled(kb: KnowledgeBase, candidateIds: readonly string[]): Promise<string[][]> {
  const bundles: string[][] = []
  const open = new Map<string, string[]>()
  for (const id of candidateIds) {
    const key = (await wholeOf(kb, id))?.key
    const bundle = key === undefined ? undefined : open.get(key)
    if (bundle !== undefined && bundle.length < largestBundle) bundle.push(id)
    else {
      const begun = [id]
      bundles.push(begun)
      if (key !== undefined) open.set(key, begun)
    }
  }
  return bundles
}

/** Returns the push, Source or lint run that a candidate is part of; undefined if it stands alone. */
async function wholeOf({ projection, repository }: KnowledgeBase, candidateId: string): Promise<Whole | undefined> {
  const row = findCandidate(projection.read, candidateId)
  if (row === undefined) return undefined
  const record = parseCandidate(await repository.readText(row.blob))
  const { createdBy, createdAt, connector, frontMatter } = record
  const [source] = frontMatter === null ? [] : parseNeuronFile(frontMatter).fields.sources
  const whole = (kind: string, name: string) => ({ key: JSON.stringify([kind, row.zone]), name })
  if (source?.id !== undefined) return whole(`source ${source.id}`, source.filename ?? 'a Source')
  if (connector === 'git') return whole(`push ${createdBy.id} ${createdAt}`, `a push of ${createdBy.name}`)
  if (connector === 'console') return whole(`console ${createdBy.id} ${createdAt}`, `pages of ${createdBy.name}`)
  if (connector === undoConnector) return whole(`undo ${createdBy.id} ${createdAt}`, `an undo by ${createdBy.name}`)
  const minute = createdAt.slice(0, 'yyyy-mm-ddThh:mm'.length)
  return connector === 'lint' ? whole(`lint ${minute}`, `lint of ${minute.replace('T', ' ')}`) : undefined
}
