import type { Oid } from '../../git/objects/object.ts'
import type { Repository, TreeChange } from '../../git/repository.ts'
import { fileLayout } from '../../markdown/file/front-matter.ts'
import { editNeuron, type NeuronFile, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { fileTitle, ownTitle } from '../../markdown/neuron-title.ts'
import { type Actor, type Candidate, type Decision, ingestConnector } from '../../rules/candidates/candidate.ts'
import { candidateIdFor, idTail } from '../../rules/candidates/candidate-id.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { type CandidateRow, findCandidate, proposesAt, wasApproved } from '../projection/candidate-index.ts'
import { textKeyOf, titleKey } from '../projection/candidate-words.ts'
import { blobAtPath, seqIdAtPath } from '../projection/file-queries.ts'
import { findNeuron, type NeuronRow } from '../projection/neuron-queries.ts'
import type { Projection } from '../projection/projection.ts'
import { type LostHistory, noLostHistory } from './lost-history.ts'

export type PushedNeuron = {
  /** seqId of the Neuron; undefined if it is new and has none yet. */
  seqId: string | undefined
  /** Version on main; undefined if it is new, or restored after it was deleted. */
  before: Pick<NeuronRow, 'documentId' | 'path' | 'blob' | 'title'> | undefined
  /** Path of the page, or the path it had before it was deleted. */
  path: string
  /** Path in the push, if main has it elsewhere. */
  pushedPath?: string
  /** Blob of the page; undefined if it was deleted. */
  blob: Oid | undefined
  text: string | null
  /** Candidate of this removal, if it was approved. */
  removal?: string | undefined
}

export async function pushedNeurons(
  sql: Projection['read'],
  changes: readonly TreeChange[],
  readText: (oid: Oid) => Promise<string>,
): Promise<PushedNeuron[]> {
  const pages = changes.filter(({ path }) => isNeuronPath(path))
  const present = await Promise.all(
    pages.flatMap(({ path, after: blob }) => (blob === undefined ? [] : [readPage(sql, path, blob, readText)])),
  )
  const kept = new Set(present.map(({ seqId }) => seqId))
  const left = await Promise.all(pages.map((page) => seqIdBefore(sql, page, readText)))
  const removed = [...new Set(left)].flatMap((seqId): PushedNeuron[] => {
    const before = seqId === undefined || kept.has(seqId) ? undefined : findNeuron(sql, seqId)
    return before === undefined ? [] : [{ seqId, before, path: before.path, blob: undefined, text: null }]
  })
  return [...present, ...removed].sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function readPage(
  sql: Projection['read'],
  path: string,
  blob: Oid,
  readText: (oid: Oid) => Promise<string>,
): Promise<PushedNeuron> {
  const text = await readText(blob)
  const { seqId } = parseNeuronFile(text).fields
  const before = seqId === undefined ? undefined : findNeuron(sql, seqId)
  return { seqId, before, path, blob, text: withoutCopiedOrigin(sql, text) }
}

/** Removes the ingest origin from a new page copied from a compiled one, since no edition will update the copy. */
export function withoutCopiedOrigin(sql: Projection['read'], text: string): string {
  const { seqId, candidate, connector } = parseNeuronFile(text).fields
  const isCopy = seqId === undefined && (candidate === undefined || wasApproved(sql, candidate))
  return isCopy && connector === ingestConnector ? editNeuron(text, { connector: undefined }) : text
}

/** Returns the path on main of a page that the push moves without a change. */
export function movedFrom({ before, path, blob }: PushedNeuron): string | undefined {
  return before?.blob === blob && before?.path !== path ? before?.path : undefined
}

type Sql = Projection['read']

/** Returns the seqId of a changed file at the base of the push, which may be behind main. */
export async function seqIdBefore(
  sql: Sql,
  { path, before }: { path: string; before?: Oid | undefined },
  readText: (oid: Oid) => Promise<string>,
): Promise<string | undefined> {
  if (before === undefined || !isNeuronPath(path)) return undefined
  if (blobAtPath(sql, path) === before) return seqIdAtPath(sql, path)
  return parseNeuronFile(await readText(before)).fields.seqId
}

/** True if a file of main already had its seqId at an earlier commit. */
export async function wasHolder(
  sql: Sql,
  { path, seqId }: { path: string; seqId: string },
  { repository, base }: { repository: Repository; base: Oid },
): Promise<boolean> {
  const before = await repository.blobAt(base, path)
  return (await seqIdBefore(sql, { path, before }, (oid) => repository.readTextOnce(oid))) === seqId
}

/** Thrown if a ref of a push is rejected. The message is one line for the pusher's terminal. */
export class PushRefused extends Error {
  /** Findings by file. */
  readonly findings: readonly Finding[]
  /** True if nothing is wrong, but further people must approve. */
  readonly awaitsApproval: boolean

  constructor(reason: string, findings: readonly Finding[] = [], awaitsApproval = false) {
    super(reason)
    this.awaitsApproval = awaitsApproval
    this.findings = findings
  }
}

/**
 * Origin of a candidate, which distinguishes the candidates of one Neuron: author and entry point. `rename`: the page's links follow a
 * Neuron that was renamed over HTTP. `console`: a person wrote it there.
 */
export type Origin = { door: 'main' | 'for' | 'rename' | 'console'; by: string; topic?: string }

/** Audit reason for a candidate that was recreated because a restore had lost it. */
export const madeAgain = 'made again of a push, after a restore had lost it'

/** The title, content and front matter of a candidate, taken from a page. */
type WrittenParts = Pick<Candidate, 'title' | 'content' | 'frontMatter' | 'tests'>

/** Returns the parts of a candidate. A removal has the content that it removes. */
export async function pageParts(
  { before, path, text }: PushedNeuron,
  readText: (oid: Oid) => Promise<string>,
): Promise<WrittenParts> {
  const page = text ?? (before === undefined ? '' : await readText(before.blob))
  const { fields, content } = parseNeuronFile(page)
  const title = oneLine(ownTitle(fields, content) ?? '', 1000) || (text === null && before?.title) || fileTitle(path)
  return { title, content, frontMatter: text === null ? null : page.slice(0, fileLayout(page).bodyStart) }
}

/** Returns the connector of a change that came by git, from the console, or by updating links after a rename. */
export function connectorOf({ door }: Pick<Origin, 'door'>): string {
  return door === 'rename' || door === 'console' ? door : 'git'
}

/** Returns the key by which the index finds a candidate again; see `candidatesOfOrigin`. */
export function gitOriginOf(
  { seqId, path, pushedPath = path }: Pick<PushedNeuron, 'seqId' | 'path' | 'pushedPath'>,
  { door, by, topic = '' }: Origin,
): string {
  return JSON.stringify([door, by, topic, seqId ?? pushedPath])
}

/** Returns the common prefix of {@link gitOriginOf} for all Neurons that one pusher proposes under one topic. */
export function gitOriginPrefix({ door, by, topic = '' }: Origin): string {
  return `${JSON.stringify([door, by, topic]).slice(0, -1)},`
}

/** Options for a candidate made from a change in git. `id`: id of a candidate that is recreated. */
export type GitCandidateOptions = {
  id?: string
  parts: WrittenParts
  origin: Origin
  reason: string
  actor: Actor
  at: Date
}

export function gitCandidate(
  kbId: string,
  neuron: PushedNeuron,
  { id, parts, origin, reason, actor, at }: GitCandidateOptions,
): Candidate {
  const { seqId, before, blob } = neuron
  return {
    ...parts,
    id: id ?? candidateIdFor(kbId, { msecs: at.getTime() }),
    kind: seqId === undefined ? 'external-feed' : 'user-correction',
    metadata: gitMetadata(neuron, origin),
    confidence: null,
    impactEstimate: null,
    connector: connectorOf(origin),
    target: seqId ?? null,
    base: before?.blob ?? null,
    removes: blob === undefined,
    verdict: { approve: false, zone: null, reason, warnings: [] },
    createdAt: at.toISOString(),
    createdBy: actor,
    decisions: [],
  }
}

/** Returns a pending candidate updated to the page of a later push. The policy's verdict was about another text. */
export function revised(
  record: Candidate,
  change: Pick<Candidate, 'base' | 'metadata'> & WrittenParts,
  { by, at }: Pick<Decision, 'by'> & { at: Date },
): Candidate {
  const decisions: Decision[] = [...record.decisions, { action: 'revise', at: at.toISOString(), by }]
  const reason = 'it was revised before its answer tests were run'
  const verdict = record.verdict.approve ? { ...record.verdict, approve: false, reason } : record.verdict
  return { ...record, ...change, verdict, decisions }
}

export function gitMetadata(neuron: PushedNeuron, origin: Origin): string {
  const { path } = neuron
  const filename = gitOriginOf(neuron, origin)
  return JSON.stringify({ connector: connectorOf(origin), path, filename, fingerprint: gitFingerprint(neuron) })
}

/** Returns a hash of the exact pushed content. */
export function gitFingerprint({
  path,
  pushedPath = path,
  blob,
}: Pick<PushedNeuron, 'path' | 'pushedPath' | 'blob'>): string {
  return `${pushedPath} ${blob ?? ''}`
}

/**
 * Returns the candidate that a page names, if it is for this Neuron and not approved, as in a page merged from the candidate's head. A new
 * page must be the one that the candidate proposes, by its title, its text or its path. After a restore the candidate of a new page may be
 * pending again, although the page has its seqId.
 */
export function namedCandidate(
  sql: Projection['read'],
  neuron: PushedNeuron,
  { pages }: Pick<LostHistory, 'pages'> = noLostHistory,
): CandidateRow | undefined {
  const { seqId, text } = neuron
  const page = parseNeuronFile(text ?? '')
  const { candidate: id } = page.fields
  const row = id === undefined ? undefined : findCandidate(sql, id)
  if (row === undefined || row.status === 'approved' || row.removes) return undefined
  if (row.target === null && seqId !== undefined && pages.get(row.id)?.seqId === seqId) return row
  const isFor = row.target === (seqId ?? null)
  return isFor && (row.target !== null || isPageOf(sql, row, neuron, page)) ? row : undefined
}

function isPageOf(
  sql: Projection['read'],
  { id, titleKey: title, textKey }: CandidateRow,
  { path, pushedPath = path }: PushedNeuron,
  { fields, content }: NeuronFile,
): boolean {
  const isSame = title === titleKey(ownTitle(fields, content) ?? fileTitle(path)) || textKey === textKeyOf(content)
  const isInPlace = (place: string) => place.endsWith(`-${idTail(id)}.md`) || proposesAt(sql, id, place)
  return isSame || [path, pushedPath].some(isInPlace)
}
