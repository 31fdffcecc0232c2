import { v7 as uuidv7 } from 'uuid'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import type { Staging } from '../../git/staging.ts'
import { type Actor, type Candidate, queueStatus } from '../../knowledge/candidate.ts'
import { parseMetadata, readMetadata } from '../../knowledge/metadata.ts'
import type { NeuronFields } from '../../knowledge/neuron.ts'
import { pathKey } from '../../knowledge/portable-path.ts'
import { formatSeqId } from '../../knowledge/seq-id.ts'
import { slugify, uniqueSlug } from '../../knowledge/slug.ts'
import { parseCandidate } from '../../markdown/candidate-file.ts'
import { hasReadableSize } from '../../markdown/front-matter.ts'
import { FrontMatterError } from '../../markdown/front-matter-edit.ts'
import { editNeuron, formatNeuron, type NeuronChanges, parseNeuronFile } from '../../markdown/neuron-file.ts'
import { findCandidate, unfinishedApprovals } from '../../store/candidate-index.ts'
import { findNeuron, isPathTaken } from '../../store/neuron-queries.ts'
import { commitMessage, signatureOf } from '../commit-message.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { nextNumber } from '../seq-numbers.ts'
import { mergeIntoTarget } from './merge-candidate.ts'

/** A curator's changes on the way from candidate to Neuron. */
export type ApprovalEdit = {
  content?: string | undefined
  title?: string | undefined
  tags?: string[] | undefined
  /** The commit whose version of the target `content` was written against, after a conflict. */
  base?: string | undefined
}

export type Approval = { seqId: string; documentId: string | null; commit: string }

/** A file of main that an approval writes. */
type NeuronFile = Omit<Approval, 'commit'> & { path: string; text: string; title: string; isNew: boolean }

/** What metadata keys become of their own in front matter, or steer the approval; the rest is kept as `metadata`. */
const surfaced: ReadonlySet<string> = new Set(['connector', 'sourceUrl', 'tags', 'targetNeuron', 'actionZone', 'path'])

/** Completes what the policy approved and a crash kept from reaching main. */
export async function finishApprovals(kb: KnowledgeBase, now: () => Date): Promise<void> {
  for (const id of unfinishedApprovals(kb.projection.read)) {
    await kb.write((staging) => approveByPolicy(kb, staging, id, now()))
  }
}

/**
 * Approves within a group commit what the policy approved. What no longer can be, since its target has changed after the
 * candidate reached the queue, waits for a curator.
 */
export async function approveByPolicy(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  now: Date,
): Promise<void> {
  try {
    await approveStaged(kb, staging, candidateId, {}, policyActor, now)
  } catch (error) {
    if (!(error instanceof GanglionError || error instanceof ValidationError)) throw error
  }
}

const policyActor: Actor = { id: 'policy', name: "The knowledge base's policy" }

/** Approves a candidate within a group commit; what it throws, it throws before it stages anything. */
export async function approveStaged(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  edit: ApprovalEdit,
  actor: Actor,
  now: Date,
): Promise<Approval> {
  const row = findCandidate(kb.projection.write, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  if (row.approval !== undefined) return row.approval
  const candidate = parseCandidate(await staging.readText(row.blob))
  if (queueStatus(candidate) !== 'pending') throw new GanglionError('not_pending')

  const file =
    candidate.target === null ? newNeuron(kb, candidate, edit, now) : await changedNeuron(kb, staging, candidate, edit)
  const commit = await kb.commitToMain(staging, {
    files: new Map([[file.path, file.text]]),
    message: commitMessage(`${file.isNew ? 'Add' : 'Update'} "${file.title}"`, {
      Candidate: candidateId,
      Neuron: file.seqId,
      Kind: candidate.kind,
      Connector: candidate.connector,
      'Approved-By': `${actor.name} <${actor.id}>`,
    }),
    author: signatureOf(actor, now),
    at: now,
  })
  return { seqId: file.seqId, documentId: file.documentId, commit }
}

function newNeuron(kb: KnowledgeBase, candidate: Candidate, edit: ApprovalEdit, now: Date): NeuronFile {
  const seqId = formatSeqId(kb.identity.prefix, nextNumber(kb))
  const documentId = uuidv7()
  const title = edit.title ?? candidate.title
  const inherited = inheritedFields(candidate)
  const fields: NeuronFields = {
    aliases: [],
    edges: [],
    sources: [],
    noteShared: false,
    ...inherited,
    tags: edit.tags ?? inherited.tags,
    seqId,
    id: documentId,
    title,
  }
  const path = freePath(kb, wishedPath(candidate) ?? defaultPath(title, now))
  const text = withinLimits(fields, (fitting) => formatNeuron(fitting, edit.content ?? candidate.content))
  return { seqId, documentId, path, title, isNew: true, text }
}

async function changedNeuron(
  kb: KnowledgeBase,
  staging: Staging,
  candidate: Candidate,
  edit: ApprovalEdit,
): Promise<NeuronFile> {
  const row = candidate.target === null ? undefined : findNeuron(kb.projection.write, candidate.target)
  if (row === undefined) throw new GanglionError('target_not_found')
  const current = await staging.readText(row.blob)
  const { fields } = parseNeuronFile(current)
  const content = await mergeIntoTarget(kb, staging, candidate, edit, row)
  const { tags, ...inherited } = inheritedFields(candidate)
  const title = edit.title ?? row.title
  const documentId = row.documentId ?? uuidv7()
  const changes: Partial<NeuronFields> = {
    ...inherited,
    tags: edit.tags ?? [...new Set([...fields.tags, ...tags])],
    id: documentId,
    ...(title === row.title ? {} : { title, aliases: [...new Set([...fields.aliases, row.title])] }),
  }
  const text = withinLimits(changes, (fitting) => editReadable(current, fitting, content))
  return { seqId: row.seqId, documentId, path: row.path, title, isNew: false, text }
}

/** @throws {GanglionError} `target_unreadable` where a curator must mend the front matter first. */
function editReadable(text: string, changes: NeuronChanges, content: string): string {
  try {
    return editNeuron(text, changes, content)
  } catch (error) {
    if (error instanceof FrontMatterError) throw new GanglionError('target_unreadable')
    throw error
  }
}

/**
 * The file with all that it inherits, or without the metadata, which its candidate keeps, where that makes the front matter
 * larger than anybody may read. @throws {ValidationError} where the rest alone is too large.
 */
function withinLimits<Fields extends NeuronChanges>(fields: Fields, write: (fields: Fields) => string): string {
  for (const fitting of [fields, { ...fields, metadata: undefined }]) {
    const text = write(fitting)
    if (hasReadableSize(text)) return text
  }
  throw new ValidationError({ tags: ['make the front matter larger than 16 KB'] })
}

/** Front matter that a Neuron takes over from its candidate. */
function inheritedFields(
  candidate: Candidate,
): Pick<NeuronFields, 'candidate' | 'connector' | 'tags' | 'sourceUrl' | 'metadata'> {
  const { data } = parseMetadata(candidate.metadata)
  const { tags, sourceUrl } = readMetadata(data)
  const rest = Object.fromEntries(Object.entries(data).filter(([key]) => !surfaced.has(key)))
  return {
    tags,
    connector: candidate.connector,
    candidate: candidate.id,
    ...(sourceUrl === undefined ? {} : { sourceUrl }),
    ...(Object.keys(rest).length === 0 ? {} : { metadata: JSON.stringify(rest) }),
  }
}

function wishedPath(candidate: Candidate): string | undefined {
  return readMetadata(parseMetadata(candidate.metadata).data).path
}

/** Folders by month keep trees small: a flat folder of 10,000 files costs a quarter of a megabyte a commit. */
function defaultPath(title: string, now: Date): string {
  const [year, month] = now.toISOString().split('-')
  return `neurons/${year}/${month}/${slugify(title)}.md`
}

/** The path itself, or the first with a number behind it that no file of main holds or collides with. */
function freePath(kb: KnowledgeBase, path: string): string {
  const [folder, name] = [
    path.slice(0, path.lastIndexOf('/') + 1),
    path.slice(path.lastIndexOf('/') + 1, -'.md'.length),
  ]
  const isTaken = (slug: string) => isPathTaken(kb.projection.write, pathKey(`${folder}${slug}.md`))
  return `${folder}${uniqueSlug(name, isTaken, 250)}.md`
}
