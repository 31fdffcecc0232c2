import { createHash } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { GanglionError } from '../../contract/errors.ts'
import type { Staging } from '../../git/staging.ts'
import type { CompiledPage, Span } from '../../ingest/compile/compiled.ts'
import { type Actor, type Candidate, lastVerdict } from '../../knowledge/candidate.ts'
import { candidateIdFor } from '../../knowledge/candidate-id.ts'
import type { SourceReference } from '../../knowledge/neuron.ts'
import { judge } from '../../knowledge/policy.ts'
import { pathKey } from '../../knowledge/portable-path.ts'
import { formatSeqId } from '../../knowledge/seq-id.ts'
import { slugify } from '../../knowledge/slug.ts'
import { parseCandidate } from '../../markdown/candidate-file.ts'
import { fileLayout } from '../../markdown/front-matter.ts'
import { editNeuron, formatNeuron, parseNeuronFile } from '../../markdown/neuron-file.ts'
import { candidatesOfOrigin, countPending, type OriginRow, originsBelow } from '../../store/candidate-index.ts'
import { findNeuron, type NeuronRow, versionAt } from '../../store/neuron-queries.ts'
import { commitMessage, signatureOf } from '../commit-message.ts'
import { freePagePath } from '../free-path.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { proposalOf } from '../queue/proposal.ts'
import { maxPending } from '../queue/submit-candidate.ts'
import { aliasesToKeep } from '../rename/rename-neuron.ts'
import { nextNumber } from '../seq-numbers.ts'

/** The Source that pages were compiled from. */
export type IngestedSource = {
  /** Document UUID. */
  id: string
  filename: string
  sha256: string
  /** The same for every edition of the document: its pages are found again by it. */
  editionOf: string
  sourceUrl: string | null
  /** Whether it still stands, when its turn to write has come. */
  isWanted: () => Promise<boolean>
}

/** What became of a Source's pages. */
export type IngestOutcome = {
  created: number
  updated: number
  unchanged: number
  /** That wait for a curator: by the policy, since one has edited the Neuron, or to remove what the Source no longer holds. */
  pending: number
  /** Of the Neurons that are on main. */
  seqIds: string[]
  commit: string | undefined
}

const edited = 'The Neuron was edited since its Source was ingested: approving merges the two.'
export const ingestConnector = 'ingest'
const ingestActor: Actor = { id: 'ingest', name: 'Ingest' }

/** What is under way. */
type Batch = {
  kb: KnowledgeBase
  staging: Staging
  source: IngestedSource
  at: Date
  number: number
  candidates: Map<string, Candidate>
  files: Map<string, string | null>
  /** Of new pages. */
  pathKeys: Set<string>
  trailers: [string, string][]
  outcome: IngestOutcome
}

/**
 * Takes the pages of a Source: each is a candidate under the knowledge base's policy, and all that it approves is one commit. A
 * page that was taken before changes its own Neuron, or nothing where it is the same; what a curator has edited since is never
 * overwritten, but becomes a candidate that waits. May be repeated at any time, also after a crash.
 */
export function commitSource(
  kb: KnowledgeBase,
  source: IngestedSource,
  pages: readonly CompiledPage[],
  now: () => Date,
): Promise<IngestOutcome> {
  return kb.write(async (staging) => {
    const at = now()
    const batch: Batch = {
      ...{ kb, staging, source, at, number: nextNumber(kb) },
      ...{ candidates: new Map(), files: new Map(), pathKeys: new Set(), trailers: [] },
      outcome: { created: 0, updated: 0, unchanged: 0, pending: 0, seqIds: [], commit: undefined },
    }
    if (!(await source.isWanted())) return batch.outcome
    for (const page of pages) await takePage(batch, page)
    await proposeRemovals(batch, new Set(pages.map(({ key }) => originOf(source, key))))
    const { candidates, files, trailers, outcome } = batch
    if (outcome.pending > 0 && countPending(kb.projection.write) + outcome.pending > maxPending) {
      throw new GanglionError('queue_full')
    }
    const author = signatureOf(ingestActor, at)
    const tail: [string, string][] = [
      ['Connector', ingestConnector],
      ['Source', source.id],
    ]
    if (candidates.size > 0) {
      const ids = [...candidates.keys()].map((id): [string, string] => ['Candidate', id])
      const message = commitMessage(`Propose pages of ${source.filename}`, [...ids, ...tail])
      await kb.commitToQueue(staging, { candidates: [...candidates.values()], message, author, at })
    }
    if (files.size > 0) {
      const message = commitMessage(`Ingest ${source.filename}`, [
        ...trailers,
        ...tail,
        ['Approved-By', "The knowledge base's policy <policy>"],
      ])
      outcome.commit = await kb.commitToMain(staging, { files, message, author, at })
    }
    return outcome
  })
}

async function takePage(batch: Batch, page: CompiledPage): Promise<void> {
  const { kb, source, outcome } = batch
  const { write: sql } = kb.projection
  const origin = originOf(source, page.key)
  const fingerprint = fingerprintOf(page)
  const past = candidatesOfOrigin(sql, ingestConnector, origin)
  const latest = past.find(({ approval }) => approval !== undefined)
  const target = latest?.approval === undefined ? undefined : findNeuron(sql, latest.approval.seqId)
  const waiting = past.filter(({ status }) => status === 'pending')
  const same = waiting.find((row) => row.fingerprint === fingerprint)
  for (const row of waiting) if (row !== same) await withdraw(batch, row, 'The Source was compiled anew.')
  if (latest?.fingerprint === fingerprint) {
    outcome.unchanged++
    if (target !== undefined) outcome.seqIds.push(target.seqId)
    return
  }
  const isDeleted = latest !== undefined && target === undefined
  if (isDeleted || (same === undefined && (await isRefused(batch, past, fingerprint)))) {
    outcome.unchanged++
    return
  }
  const candidate =
    same === undefined
      ? await newCandidate(batch, page, { origin, fingerprint, target, latest })
      : parseCandidate(await batch.staging.readText(same.blob))
  if (same === undefined) batch.candidates.set(candidate.id, candidate)
  if (!candidate.verdict.approve) {
    outcome.pending++
    if (target !== undefined) outcome.seqIds.push(target.seqId)
    return
  }
  await approve(batch, candidate, target)
}

/** Whether a curator dismissed this very page: that stands, as does the deletion of a Neuron. */
async function isRefused({ staging }: Batch, past: readonly OriginRow[], fingerprint: string): Promise<boolean> {
  for (const row of past) {
    if (row.status !== 'dismissed' || row.fingerprint !== fingerprint) continue
    const { decisions } = parseCandidate(await staging.readText(row.blob))
    if (lastVerdict({ decisions })?.by.id !== ingestActor.id) return true
  }
  return false
}

async function newCandidate(
  { kb, staging, source, at }: Batch,
  page: CompiledPage,
  {
    origin,
    fingerprint,
    target,
    latest,
  }: { origin: string; fingerprint: string; target: NeuronRow | undefined; latest: OriginRow | undefined },
): Promise<Candidate> {
  const kind = target === undefined ? 'ingest-summary' : 'ingest-page-update'
  const isEdited = target !== undefined && target.candidateId !== latest?.id
  const ingested = latest?.approval && versionAt(kb.projection.write, latest.approval.seqId, latest.approval.commit)
  const base = target === undefined ? null : (ingested?.blob ?? target.blob)
  const fields = {
    title: page.title,
    tags: page.tags,
    connector: ingestConnector,
    edges: page.edges ?? [],
    sources: [referenceTo(source, page)],
    ...(source.sourceUrl === null ? {} : { sourceUrl: source.sourceUrl }),
  }
  const text =
    base === null ? formatNeuron(fields, page.content) : editNeuron(await staging.readText(base), fields, page.content)
  const claim = {
    kind,
    confidence: null,
    connector: ingestConnector,
    trustedConnector: true,
    actionZone: null,
    targetProblem: null,
  } as const
  const verdict = judge(claim, await kb.settings())
  // One that is there stays where a curator may have moved it.
  const place = target === undefined ? { path: pathOf(source, page) } : {}
  const metadata = { connector: ingestConnector, filename: origin, fingerprint, ...place, tags: page.tags }
  return {
    id: candidateIdFor(kb.identity.id, { msecs: at.getTime() }),
    kind,
    title: page.title,
    content: page.content,
    frontMatter: text.slice(0, fileLayout(text).bodyStart),
    metadata: JSON.stringify(metadata),
    confidence: null,
    impactEstimate: null,
    connector: ingestConnector,
    target: target?.seqId ?? null,
    removes: false,
    base,
    verdict: isEdited
      ? { ...verdict, approve: false, reason: 'the Neuron was edited since', warnings: [edited] }
      : verdict,
    createdAt: at.toISOString(),
    createdBy: ingestActor,
    decisions: [],
  }
}

async function approve(batch: Batch, candidate: Candidate, target: NeuronRow | undefined): Promise<void> {
  const { kb, staging, files, pathKeys, trailers, outcome } = batch
  const seqId = target?.seqId ?? formatSeqId(kb.identity.prefix, batch.number++)
  const view = { sql: kb.projection.write, readText: (oid: string) => staging.readText(oid) }
  const ids = { seqId, id: target?.documentId ?? uuidv7() }
  const { path: wished, text, title } = await proposalOf(view, candidate, { ids })
  const path = target === undefined ? freePagePath(kb, wished, pathKeys) : wished
  pathKeys.add(pathKey(path))
  const isRenamed = target !== undefined && title !== target.title
  const aliases = isRenamed ? aliasesToKeep(kb, seqId, { path, title, aliases: [] }) : []
  files.set(path, aliases.length === 0 || text === null ? text : editNeuron(text, { aliases }))
  trailers.push(['Candidate', candidate.id], ['Neuron', seqId])
  outcome.seqIds.push(seqId)
  if (target === undefined) outcome.created++
  else outcome.updated++
}

/** Neurons of parts that the Source no longer has: a curator decides. */
async function proposeRemovals(batch: Batch, present: ReadonlySet<string>): Promise<void> {
  const { kb, staging, source, at, candidates, outcome } = batch
  const { write: sql } = kb.projection
  for (const origin of originsBelow(sql, ingestConnector, originPrefix(source.editionOf))) {
    if (present.has(origin)) continue
    const past = candidatesOfOrigin(sql, ingestConnector, origin)
    const latest = past.find(({ approval, removes }) => approval !== undefined && !removes)
    const target = latest?.approval === undefined ? undefined : findNeuron(sql, latest.approval.seqId)
    const isKnown = past.some(({ removes, target: of }) => removes && of === target?.seqId)
    for (const row of past)
      if (row.status === 'pending' && !row.removes) await withdraw(batch, row, 'The Source no longer has it.')
    if (target === undefined || isKnown) continue
    const metadata = { connector: ingestConnector, filename: origin, fingerprint: `removal ${target.blob}` }
    const candidate: Candidate = {
      id: candidateIdFor(kb.identity.id, { msecs: at.getTime() }),
      kind: 'ingest-page-update',
      title: target.title,
      content: parseNeuronFile(await staging.readText(target.blob)).content,
      frontMatter: null,
      metadata: JSON.stringify(metadata),
      confidence: null,
      impactEstimate: null,
      connector: ingestConnector,
      target: target.seqId,
      removes: true,
      base: target.blob,
      verdict: { approve: false, zone: null, reason: 'the Source no longer has this part', warnings: [] },
      createdAt: at.toISOString(),
      createdBy: ingestActor,
      decisions: [],
    }
    candidates.set(candidate.id, candidate)
    outcome.pending++
  }
}

/** Takes back what waits no longer for anything. */
async function withdraw({ staging, candidates, at }: Batch, row: OriginRow, reason: string): Promise<void> {
  const record = parseCandidate(await staging.readText(row.blob))
  const decision = { action: 'dismiss', at: at.toISOString(), by: ingestActor, reason } as const
  candidates.set(row.id, { ...record, decisions: [...record.decisions, decision] })
}

/** Of the origins of a Source's candidates. */
export function originPrefix(editionOf: string): string {
  return `${editionOf}/`
}

function originOf({ editionOf }: IngestedSource, key: string): string {
  return originPrefix(editionOf) + key
}

/** What a page says, whatever became of it in the knowledge base. */
function fingerprintOf({ title, content, tags, place, edges }: CompiledPage): string {
  return createHash('sha256')
    .update(JSON.stringify([title, content, tags, place, edges]))
    .digest('hex')
}

function referenceTo({ id, filename, sha256 }: IngestedSource, { place }: CompiledPage): SourceReference {
  const { pages, slides, sheet, time } = place
  return {
    ...{ id, filename, sha256 },
    ...(pages === undefined ? {} : { page: spanText(pages) }),
    ...(slides === undefined ? {} : { slide: spanText(slides) }),
    ...(sheet === undefined ? {} : { sheet }),
    ...(time === undefined ? {} : { time: String(Math.floor(time)) }),
  }
}

function spanText([first, last]: Span): string {
  return first === last ? String(first) : `${first}-${last}`
}

function pathOf({ filename }: IngestedSource, { kind, key }: CompiledPage): string {
  const folder = `sources/${slugify(filename.replace(/\.[^.]*$/, ''))}`
  return kind === 'summary' ? folder : `${folder}/${slugify(key)}`
}
