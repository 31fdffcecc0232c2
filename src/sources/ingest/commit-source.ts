import { v7 as uuidv7 } from 'uuid'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { freePagePath, takenOnMain } from '../../kb/new-path.ts'
import { candidatesOfOrigin, type OriginRow, originsBelow } from '../../kb/projection/candidate-index.ts'
import { findNeuron, type NeuronRow } from '../../kb/projection/neuron-queries.ts'
import { commitMessage } from '../../kb/refs/commit-message.ts'
import { awaitedApprovals, type DecidedPage } from '../../kb/writing/approvals.ts'
import { commitToMain, commitToQueue, nextNumbers } from '../../kb/writing/commits.ts'
import { proposalOf } from '../../kb/writing/proposal.ts'
import { aliasesToKeep, namesVisibleTo } from '../../kb/writing/rename/name-change.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { hasReadableSize } from '../../markdown/file/front-matter.ts'
import { editNeuron, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { opensUp } from '../../queue/approval.ts'
import { decideTested, isTestedFirst, leftToCurator, type Objection } from '../../queue/policy-approval.ts'
import { type Candidate, ingestActor, ingestConnector, lastVerdict } from '../../rules/candidates/candidate.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { formatSeqId } from '../../rules/neurons/seq-id.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import type { CompiledPage } from '../compile/compiled.ts'
import {
  fingerprintOf,
  type IngestedSource,
  type IngestWrite,
  originOf,
  originPrefix,
  pageCandidate,
  removalCandidate,
} from './source-candidate.ts'

export type IngestOutcome = {
  created: number
  updated: number
  unchanged: number
  /**
   * Pages that wait for a curator: because of the policy, because a curator has edited the Neuron, or because their part of the Source
   * is gone.
   */
  pending: number
  /** seqIds of the Neurons that are on `main`. */
  seqIds: string[]
  commit: string | undefined
}

/** State of the write in progress. */
type Batch = IngestWrite & {
  /** Returns the number of the next Neuron. */
  nextNumber: () => number
  candidates: Map<string, Candidate>
  files: Map<string, string | null>
  /** Path keys of new pages. */
  pathKeys: Set<string>
  trailers: [string, string][]
  approved: DecidedPage[]
  outcome: IngestOutcome
  /** Reason why the policy approves no page of the Source. */
  objection: Objection | undefined
}

/**
 * Proposes the pages of a Source. Each page becomes a candidate, and those that the policy approves become one commit. A page that was
 * ingested before updates its own Neuron; an unchanged page changes nothing. A Neuron that a curator has edited since is never
 * overwritten: its candidate waits. May be repeated at any time, also after a crash.
 */
export async function commitSource(
  ctx: Pick<Context, 'now' | 'tests'>,
  kb: KnowledgeBase,
  source: IngestedSource,
  pages: readonly CompiledPage[],
): Promise<IngestOutcome> {
  const proposed = await kb.write(async (staging) => {
    const batch = await takePages(ctx, kb, { staging, source, pages })
    const isTested = batch.approved.length > 0 && isTestedFirst(kb, await kb.settings())
    if (!isTested) await commitApproved(batch)
    return { ...batch, isTested }
  })
  if (!proposed.isTested) return proposed.outcome
  const removals = [...proposed.candidates.values()].filter(({ removes }) => removes).length
  const ids = proposed.approved.map(({ candidate }) => candidate.id)
  return decideTested(ctx, kb, {
    ids,
    async decide(staging, objection) {
      const taken = await takePages(ctx, kb, { staging, source, pages, objection })
      const isTested =
        taken.approved.every(({ candidate }, at) => candidate.id === ids[at]) && taken.approved.length === ids.length
      // The pages were tested together: if some were decided or revised meanwhile, the others are untested.
      const changed = { reason: 'not all that was tested with it can be approved any more' }
      const isLeft = objection === undefined && !isTested
      const batch = isLeft ? await takePages(ctx, kb, { staging, source, pages, objection: changed }) : taken
      await commitApproved(batch)
      return { ...batch.outcome, pending: batch.outcome.pending + removals }
    },
  })
}

type TakenPages = Pick<Batch, 'staging' | 'source'> & {
  pages: readonly CompiledPage[]
  objection?: Objection | undefined
}

/** Puts the pages into the queue. */
async function takePages(
  { now }: Pick<Context, 'now'>,
  kb: KnowledgeBase,
  { staging, source, pages, objection }: TakenPages,
): Promise<Batch> {
  const at = now()
  const batch: Batch = {
    ...{ kb, staging, source, at, nextNumber: nextNumbers(kb), objection },
    ...{ candidates: new Map(), files: new Map(), pathKeys: new Set(), trailers: [], approved: [] },
    outcome: { created: 0, updated: 0, unchanged: 0, pending: 0, seqIds: [], commit: undefined },
  }
  if (!(await source.isWanted())) return batch
  for (const page of pages) await takePage(batch, page)
  await proposeRemovals(batch, new Set(pages.map(({ key }) => originOf(source, key))))
  const { candidates } = batch
  if (candidates.size > 0) {
    const ids = [...candidates.keys()].map((id): [string, string] => ['Candidate', id])
    const message = commitMessage(`Propose pages of ${source.filename}`, [...ids, ...originTrailers(source)])
    await commitToQueue(kb, staging, [...candidates.values()], { by: ingestActor, at, message })
  }
  return batch
}

async function commitApproved({ kb, staging, source, at, files, trailers, approved, outcome }: Batch): Promise<void> {
  if (files.size === 0) return
  outcome.commit = await commitToMain(kb, staging, {
    ...{ files, decided: { by: ingestActor, of: approved }, at },
    subject: `Ingest ${source.filename}`,
    trailers: [...trailers, ...originTrailers(source)],
  })
}

function originTrailers({ id }: IngestedSource): [string, string][] {
  return [
    ['Connector', ingestConnector],
    ['Source', id],
  ]
}

async function takePage(batch: Batch, page: CompiledPage): Promise<void> {
  const { kb, source, outcome } = batch
  const { write: sql } = kb.projection
  const origin = originOf(source, page.key)
  const fingerprint = fingerprintOf(page)
  const past = candidatesOfOrigin(sql, ingestConnector, origin)
  const approved = past.filter(({ approval }) => approval !== undefined)
  const [last] = approved
  const target = last?.approval === undefined ? undefined : findNeuron(sql, last.approval.seqId)
  const proposed = approved.find(({ removes }) => !removes)
  const latest = target === undefined ? last : proposed
  const waiting = past.filter(({ status }) => status === 'pending')
  const same = waiting.find((row) => row.fingerprint === fingerprint)
  for (const row of waiting) if (row !== same) await withdraw(batch, row, 'The Source was compiled anew.')
  if (latest?.fingerprint === fingerprint) {
    outcome.unchanged++
    if (target !== undefined) outcome.seqIds.push(target.seqId)
    return
  }
  // A page that was removed because the Source had lost it returns with it. A page that a curator deleted does not.
  const isDeleted = latest !== undefined && target === undefined && !latest.removes
  if (isDeleted && same !== undefined) await withdraw(batch, same, 'Its Neuron was deleted.')
  if (isDeleted || (same === undefined && (await isRefused(batch, past, fingerprint)))) {
    outcome.unchanged++
    return
  }
  const candidate =
    same === undefined
      ? await pageCandidate(batch, page, { origin, fingerprint, target, latest, proposed })
      : parseCandidate(await batch.staging.readText(same.blob))
  if (same === undefined) batch.candidates.set(candidate.id, candidate)
  if (candidate.verdict.approve && (await approve(batch, candidate, target))) return
  outcome.pending++
  if (target !== undefined) outcome.seqIds.push(target.seqId)
}

/** True if a curator dismissed this page with the same content. A dismissal stands, as does the deletion of a Neuron. */
async function isRefused(batch: Batch, past: readonly OriginRow[], fingerprint: string): Promise<boolean> {
  for (const row of past) {
    if (row.fingerprint === fingerprint && (await isDismissed(batch, row))) return true
  }
  return false
}

/** True if a curator dismissed the page. A withdrawal by ingest is not a decision. */
async function isDismissed({ staging }: Batch, { status, blob }: OriginRow): Promise<boolean> {
  return status === 'dismissed' && lastVerdict(parseCandidate(await staging.readText(blob)))?.by.id !== ingestActor.id
}

/** Approves a page. @returns false if a curator must decide, and the reason is in the candidate */
async function approve(batch: Batch, candidate: Candidate, target: NeuronRow | undefined): Promise<boolean> {
  const { kb, staging, candidates, files, pathKeys, trailers, outcome } = batch
  const seqId = target?.seqId ?? candidate.target ?? formatSeqId(kb.identity.prefix, batch.nextNumber())
  const view = { sql: kb.projection.write, readText: (oid: string) => staging.readText(oid), parser: kb.parser }
  const ids = { seqId, id: target?.documentId ?? uuidv7() }
  const { path: wished, text, title } = await proposalOf(view, candidate, { ids })
  const leave = (objection: Objection) => {
    candidates.set(candidate.id, leftToCurator(candidate, objection))
    return false
  }
  if (batch.objection !== undefined) return leave(batch.objection)
  if (await opensUp(kb, staging, seqId, { text, target })) return leave({ reason: 'more readers would see the Neuron' })
  const path = target === undefined ? freePagePath(wished, takenOnMain(kb.projection.write, pathKeys)) : wished
  pathKeys.add(pathKey(path))
  const isRenamed = target !== undefined && title !== target.title
  const own = text === null ? [] : parseNeuronFile(text).fields.aliases
  const sight = target && namesVisibleTo(view.sql, seqId, (await kb.settings()).defaultAudience)
  const kept = isRenamed ? aliasesToKeep(kb, seqId, { path, title, aliases: own }, { sight }) : []
  const aliases = kept.length === 0 ? [] : [...new Set([...own, ...kept])]
  const named = aliases.length === 0 || text === null ? text : editNeuron(text, { aliases })
  const page = named === null || hasReadableSize(named) ? named : text
  const decided = { candidate, path, text: page }
  const awaiting = await awaitedApprovals(kb, staging, new Map([[path, page]]), { by: ingestActor, of: [decided] })
  if (awaiting !== undefined) return leave({ reason: awaitingText(awaiting) })
  files.set(path, page)
  batch.approved.push(decided)
  trailers.push(['Candidate', candidate.id], ['Neuron', seqId])
  outcome.seqIds.push(seqId)
  if (target === undefined) outcome.created++
  else outcome.updated++
  return true
}

/** Proposes to remove the Neurons of parts that the Source no longer has. A curator decides. */
async function proposeRemovals(batch: Batch, present: ReadonlySet<string>): Promise<void> {
  const { kb, source, candidates, outcome } = batch
  const { write: sql } = kb.projection
  for (const origin of originsBelow(sql, ingestConnector, originPrefix(source.editionOf))) {
    if (present.has(origin)) continue
    const past = candidatesOfOrigin(sql, ingestConnector, origin)
    const latest = past.find(({ approval, removes }) => approval !== undefined && !removes)
    const target = latest?.approval && findNeuron(sql, latest.approval.seqId)
    for (const row of past)
      if (row.status === 'pending' && !row.removes) await withdraw(batch, row, 'The Source no longer has it.')
    if (latest === undefined || target === undefined || (await isRemovalKnown(batch, past, target.seqId))) continue
    const candidate = await removalCandidate(batch, origin, { target, proposed: latest })
    candidates.set(candidate.id, candidate)
    outcome.pending++
  }
}

/** True if a Neuron's removal waits for a curator, or if a curator dismissed or undid it. */
async function isRemovalKnown(batch: Batch, past: readonly OriginRow[], seqId: string): Promise<boolean> {
  const page = past.findIndex(({ approval, removes }) => approval !== undefined && !removes)
  for (const [at, row] of past.entries()) {
    if (!row.removes || row.target !== seqId) continue
    const isUndone = row.approval !== undefined && at < page
    if (row.status === 'pending' || isUndone || (await isDismissed(batch, row))) return true
  }
  return false
}

/** Dismisses a pending candidate that is superseded. */
async function withdraw({ staging, candidates, at }: Batch, row: OriginRow, reason: string): Promise<void> {
  const record = parseCandidate(await staging.readText(row.blob))
  const decision = { action: 'dismiss', at: at.toISOString(), by: ingestActor, reason } as const
  candidates.set(row.id, { ...record, decisions: [...record.decisions, decision] })
}
