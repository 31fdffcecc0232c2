import type { Oid } from '../../git/objects/object.ts'
import { fileLayout } from '../../markdown/file/front-matter.ts'
import { type NeuronFile, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { fileTitle, ownTitle } from '../../markdown/neuron-title.ts'
import type { Actor, Candidate, Decision } from '../../rules/candidates/candidate.ts'
import { candidateIdFor, idTail } from '../../rules/candidates/candidate-id.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { type CandidateRow, findCandidate, proposesAt } from '../projection/candidate-index.ts'
import { textKeyOf, titleKey } from '../projection/candidate-words.ts'
import type { Projection } from '../projection/projection.ts'
import { type LostHistory, noLostHistory } from './lost-history.ts'
import type { PushedNeuron } from './pushed-neurons.ts'

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
