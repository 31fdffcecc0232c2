import { hash } from 'node:crypto'
import type { Staging } from '../../git/staging.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import type { OriginRow } from '../../kb/projection/candidate-index.ts'
import type { NeuronRow } from '../../kb/projection/neuron-queries.ts'
import { versionAt, versionOfBlob } from '../../kb/projection/version-queries.ts'
import { asProposed } from '../../kb/writing/merge-candidate.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { fileLayout } from '../../markdown/file/front-matter.ts'
import { editNeuron, formatNeuron, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { isInternal, narrowed } from '../../rules/access/audience.ts'
import { type Candidate, ingestActor, ingestConnector } from '../../rules/candidates/candidate.ts'
import { candidateIdFor, idTail } from '../../rules/candidates/candidate-id.ts'
import type { SourceReference } from '../../rules/neurons/neuron.ts'
import { withoutOrigin } from '../../rules/neurons/sentence-origins.ts'
import { fileSlug, hasOtherLetters, slugify } from '../../rules/paths/slug.ts'
import { judge } from '../../rules/policy.ts'
import type { CompiledPage, Span } from '../compile/compiled.ts'

export type IngestedSource = {
  /** Document UUID. */
  id: string
  filename: string
  sha256: string
  /** Id that all editions of the document share, and by which their pages are found. */
  editionOf: string
  sourceUrl: string | null
  /** Returns false if the Source was archived while its write waited. */
  isWanted: () => Promise<boolean>
}

/** Write that proposes the pages of a Source. */
export type IngestWrite = { kb: KnowledgeBase; staging: Staging; source: IngestedSource; at: Date }

/**
 * History of a page: `target` is its Neuron, if that exists; `latest` is the candidate by which the page last came to main, or by
 * which it was removed because its Source had lost it.
 */
type PagePast = {
  origin: string
  fingerprint: string
  target: NeuronRow | undefined
  latest: OriginRow | undefined
  /** Last proposal of ingest that main has taken, removals excepted. */
  proposed: OriginRow | undefined
}

const edited = 'The Neuron was edited since its Source was ingested: approving merges the two.'
const lost = 'The Neuron was edited since its Source was ingested: approving removes the edits, too.'
const editedBefore = 'The Neuron was edited before it was removed: its edits come back only by hand.'

/**
 * Returns the candidate by which a page becomes a Neuron, or the next version of its own Neuron, which returns if the Source had
 * lost it. The policy decides, but never over a curator's edit.
 */
export async function pageCandidate(
  write: IngestWrite,
  page: CompiledPage,
  { origin, fingerprint, target, latest, proposed }: PagePast,
): Promise<Candidate> {
  const { kb, source } = write
  const { doubts = [] } = page
  const kind = target === undefined ? 'ingest-summary' : 'ingest-page-update'
  const gone = target === undefined && latest?.removes ? await removedPage(write, latest) : undefined
  const before = target && (await knownVersion(write, target, proposed))
  const known = before?.text ?? gone?.text
  const isEdited =
    before?.isEdited ?? (gone !== undefined && (await editedFrom(write, gone.text, proposed)) !== undefined)
  const seenBy = known === undefined ? undefined : parseNeuronFile(known).fields.audience
  const fields = {
    ...(page.audience && { audience: narrowed(page.audience, seenBy ?? page.audience) }),
    title: page.title,
    tags: page.tags,
    connector: ingestConnector,
    edges: page.edges ?? [],
    sources: [referenceTo(source, page)],
    ...(source.sourceUrl === null ? {} : { sourceUrl: source.sourceUrl }),
    // The verification was of another text.
    ...(known !== undefined && saysOther(known, page) ? { verified: undefined } : {}),
  }
  const text = known === undefined ? formatNeuron(fields, page.content) : editNeuron(known, fields, page.content)
  const claim = {
    kind,
    confidence: null,
    connector: ingestConnector,
    door: ingestConnector,
    trustedConnector: true,
    actionZone: doubts.length > 0 ? 'yellow' : null,
    targetProblem: null,
  } as const
  const { warnings, ...verdict } = judge(claim, await kb.settings())
  // An existing Neuron stays at its path, which a curator may have changed.
  const place = target === undefined ? { path: gone?.path ?? pathOf(source, page) } : {}
  const { part, isUncertain, model } = page
  return {
    ...ofIngest(write, { filename: origin, fingerprint, part, isUncertain, model, ...place, tags: page.tags }),
    kind,
    title: page.title,
    content: page.content,
    frontMatter: text.slice(0, fileLayout(text).bodyStart),
    target: target?.seqId ?? gone?.seqId ?? null,
    removes: false,
    base: before?.base ?? null,
    ...(before?.mergeBase === undefined ? {} : { mergeBase: before.mergeBase }),
    verdict: {
      ...verdict,
      ...(isEdited ? { approve: false, reason: 'the Neuron was edited since' } : {}),
      warnings: [...warnings, ...(isEdited ? [target === undefined ? editedBefore : edited] : []), ...doubts],
    },
  }
}

/**
 * Returns the version of a Neuron that a change of its Source is relative to: the present one, or if somebody has edited that, the one that
 * ingest had proposed. Verifying or moving a page is no edit. An edit around the server keeps the back-pointer.
 */
async function knownVersion(
  write: IngestWrite,
  target: NeuronRow,
  proposed: OriginRow | undefined,
): Promise<{ base: string; text: string; mergeBase?: string | undefined; isEdited: boolean }> {
  const { kb, staging } = write
  const { seqId, commit } = proposed?.approval ?? {}
  const approved = seqId && commit ? versionAt(kb.projection.write, seqId, commit) : undefined
  const current = await staging.readText(target.blob)
  const base = approved?.blob ?? target.blob
  const text = await staging.readText(base)
  const mergeBase = await editedFrom(write, text, proposed)
  const isEdited = proposed === undefined || mergeBase !== undefined || unsigned(current) !== unsigned(text)
  return isEdited ? { base, text, mergeBase, isEdited } : { base: target.blob, text: current, isEdited }
}

/** Returns the blob of ingest's proposal if a curator approved it with changes. */
async function editedFrom(
  { staging }: IngestWrite,
  text: string,
  proposed: OriginRow | undefined,
): Promise<string | undefined> {
  if (proposed === undefined) return undefined
  const { blob, record } = await originalOf((oid) => staging.readText(oid), proposed)
  return asProposed(text, record) === text ? undefined : blob
}

function unsigned(text: string): string {
  return editNeuron(text, { candidate: undefined, verified: undefined })
}

function saysOther(text: string, { title, content }: CompiledPage): boolean {
  const { fields, content: before } = parseNeuronFile(text)
  return fields.title !== title || withoutOrigin(before) !== withoutOrigin(content)
}

/** Returns the version that ingest proposed, without the changes of the curator who approved it, and its blob. */
export async function originalOf(
  readText: (oid: string) => Promise<string>,
  { blob }: OriginRow,
): Promise<{ blob: string; record: Candidate }> {
  const record = parseCandidate(await readText(blob))
  const { original } = record
  if (original === undefined) return { blob, record }
  return { blob: original, record: parseCandidate(await readText(original)) }
}

/** Returns the Neuron that a candidate removed; undefined if the page does not have its seqId. */
async function removedPage(
  { kb, staging }: IngestWrite,
  { blob, target }: OriginRow,
): Promise<{ seqId: string; path: string | undefined; text: string } | undefined> {
  const { base } = parseCandidate(await staging.readText(blob))
  if (base === null || target === null) return undefined
  const text = await staging.readText(base)
  if (parseNeuronFile(text).fields.seqId !== target) return undefined
  return { seqId: target, path: versionOfBlob(kb.projection.write, target, base)?.path, text }
}

/**
 * Returns the candidate that removes a Neuron whose part the Source no longer has. A curator decides. `proposed`: see `PagePast`.
 */
export async function removalCandidate(
  write: IngestWrite,
  origin: string,
  { target, proposed }: { target: NeuronRow; proposed: OriginRow },
): Promise<Candidate> {
  const { isEdited } = await knownVersion(write, target, proposed)
  return {
    ...ofIngest(write, { filename: origin, fingerprint: `removal ${target.blob}` }),
    kind: 'ingest-page-update',
    title: target.title,
    content: parseNeuronFile(await write.staging.readText(target.blob)).content,
    frontMatter: null,
    target: target.seqId,
    removes: true,
    base: target.blob,
    verdict: {
      approve: false,
      zone: null,
      reason: 'the Source no longer has this part',
      warnings: isEdited ? [lost] : [],
    },
  }
}

function ofIngest({ kb, source, at }: IngestWrite, metadata: Record<string, unknown>) {
  return {
    id: candidateIdFor(kb.identity.id, { msecs: at.getTime() }),
    metadata: JSON.stringify({ connector: ingestConnector, source: source.id, ...metadata }),
    confidence: null,
    impactEstimate: null,
    connector: ingestConnector,
    createdAt: at.toISOString(),
    createdBy: ingestActor,
    decisions: [],
  }
}

/** Returns the common prefix of the origins of a Source's candidates. */
export function originPrefix(editionOf: string): string {
  return `${editionOf}/`
}

/** Returns the origin by which candidates name a page. */
export function originOf({ editionOf }: IngestedSource, key: string): string {
  return originPrefix(editionOf) + key
}

/** Returns a hash of a page's content, which does not depend on what became of it in the knowledge base. */
export function fingerprintOf({ title, content, tags, place, edges, audience }: CompiledPage): string {
  return hash('sha256', JSON.stringify([title, content, tags, place, edges, ...(audience ?? [])]))
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

/**
 * Returns a path below `neurons/`. It ends in a part of the document's id, so that it reveals nothing of other documents of the same name.
 * An internal page is named after its title: a curator may show the page later, but not the Source, whose name readers must not see.
 */
function pathOf({ filename, editionOf }: IngestedSource, { kind, key, title, tags }: CompiledPage): string {
  const isHidden = isInternal(tags)
  const name = isHidden && kind !== 'summary' ? 'source' : fileSlug(isHidden ? title : filename.replace(/\.[^.]*$/, ''))
  const folder = `sources/${name}-${idTail(editionOf)}`
  return kind === 'summary' ? folder : `${folder}/${hasOtherLetters(title) ? fileSlug(title) : slugify(key)}`
}
