import type { Oid } from '../../git/objects/object.ts'
import type { Actor, Candidate, Decision } from '../../knowledge/candidate.ts'
import { candidateIdFor } from '../../knowledge/candidate-id.ts'
import { judge } from '../../knowledge/policy.ts'
import { oneLine } from '../../knowledge/text/text.ts'
import { fileLayout } from '../../markdown/file/front-matter.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { fileTitle, ownTitle } from '../../markdown/neuron-title.ts'
import { type CandidateRow, findCandidate } from '../../store/projection/candidate-index.ts'
import type { Projection } from '../../store/projection/projection.ts'
import { type LostHistory, noLostHistory } from './lost-history.ts'
import type { PushedNeuron } from './pushed-neurons.ts'

/**
 * What distinguishes the candidates of one Neuron: who made it, and by which door. `rename`: the page's links follow a Neuron
 * that was renamed over HTTP. `console`: a person wrote it there.
 */
export type Origin = { door: 'main' | 'for' | 'rename' | 'console'; by: string; topic?: string }

/** Why a candidate is there that a restore had lost: for the audit trail. */
export const madeAgain = 'made again of a push, after a restore had lost it'

/** A candidate's title, content and front matter, as a page gives them. */
export type PageParts = Pick<Candidate, 'title' | 'content' | 'frontMatter'>

/** A removal has the content that it removes. */
export async function pageParts(
  { before, path, text }: PushedNeuron,
  readText: (oid: Oid) => Promise<string>,
): Promise<PageParts> {
  const page = text ?? (before === undefined ? '' : await readText(before.blob))
  const { fields, content } = parseNeuronFile(page)
  const title = oneLine(ownTitle(fields, content) ?? '', 1000) || (text === null && before?.title) || fileTitle(path)
  return { title, content, frontMatter: text === null ? null : page.slice(0, fileLayout(page).bodyStart) }
}

/** Attribution of what came with git, from the console, or of links that follow a rename. */
export function connectorOf({ door }: Pick<Origin, 'door'>): string {
  return door === 'rename' || door === 'console' ? door : 'git'
}

/** Under which the index finds a candidate again; see `candidatesOfOrigin`. */
export function originOf(
  { seqId, path, pushedPath = path }: Pick<PushedNeuron, 'seqId' | 'path' | 'pushedPath'>,
  { door, by, topic = '' }: Origin,
): string {
  return JSON.stringify([door, by, topic, seqId ?? pushedPath])
}

/** How {@link originOf} begins for every Neuron that one pusher proposes with one topic. */
export function originPrefix({ door, by, topic = '' }: Origin): string {
  return `${JSON.stringify([door, by, topic]).slice(0, -1)},`
}

/** How a candidate is made of what was changed with git. `id`: of one that is made again. */
export type GitCandidateOptions = {
  id?: string
  parts: PageParts
  origin: Origin
  reason: string
  actor: Actor
  at: Date
}

/** A candidate for a Neuron that was changed with git; it waits until it is decided on. */
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

/** The candidate with its zone and warnings. It waits for a curator, whatever the policy says. */
export function awaitingReview(candidate: Candidate, settings: Parameters<typeof judge>[1]): Candidate {
  const untrusted = { trustedConnector: false, actionZone: null, targetProblem: null }
  const { zone, warnings } = judge({ ...candidate, ...untrusted }, settings)
  return { ...candidate, verdict: { ...candidate.verdict, zone, warnings } }
}

/** A candidate that waits, as a later push has its page. */
export function revised(
  record: Candidate,
  change: Pick<Candidate, 'base' | 'metadata'> & PageParts,
  { by, at }: Pick<Decision, 'by'> & { at: Date },
): Candidate {
  const decisions: Decision[] = [...record.decisions, { action: 'revise', at: at.toISOString(), by }]
  return { ...record, ...change, decisions }
}

export function gitMetadata(neuron: PushedNeuron, origin: Origin): string {
  const { path } = neuron
  const filename = originOf(neuron, origin)
  return JSON.stringify({ connector: connectorOf(origin), path, filename, fingerprint: fingerprintOf(neuron) })
}

/** What was pushed, exactly. */
export function fingerprintOf({
  path,
  pushedPath = path,
  blob,
}: Pick<PushedNeuron, 'path' | 'pushedPath' | 'blob'>): string {
  return `${pushedPath} ${blob ?? ''}`
}

/**
 * The candidate for a Neuron that its page names and that is not approved, as in a page that was merged from the candidate's head.
 * After a restore the candidate of a new page may wait again, though the page has its seqId.
 */
export function namedCandidate(
  sql: Projection['read'],
  { seqId, text }: PushedNeuron,
  { pages }: Pick<LostHistory, 'pages'> = noLostHistory,
): CandidateRow | undefined {
  const { candidate: id } = parseNeuronFile(text ?? '').fields
  const row = id === undefined ? undefined : findCandidate(sql, id)
  if (row === undefined || row.status === 'approved' || row.removes) return undefined
  const isLost = row.target === null && pages.get(row.id)?.seqId === seqId
  return row.target === (seqId ?? null) || isLost ? row : undefined
}
