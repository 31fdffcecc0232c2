import { v7 as uuidv7 } from 'uuid'
import type { Staging } from '../../git/staging.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { freePagePath, takenOnMain } from '../../kb/new-path.ts'
import { candidatesOfOrigin, type OriginRow } from '../../kb/projection/candidate-index.ts'
import { isBlocked } from '../../kb/projection/file-queries.ts'
import { findNeuron, type NeuronRow } from '../../kb/projection/neuron-queries.ts'
import { versionAt } from '../../kb/projection/version-queries.ts'
import { commitMessage } from '../../kb/refs/commit-message.ts'
import { commitToMain, commitToQueue, nextNumbers } from '../../kb/writing/commits.ts'
import { type ChangedFiles, followFiles } from '../../kb/writing/rename/follow-files.ts'
import { aliasesToKeep } from '../../kb/writing/rename/name-change.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { editNeuron, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import type { Actor, Candidate } from '../../rules/candidates/candidate.ts'
import { parseMetadata, readMetadata } from '../../rules/candidates/metadata.ts'
import { mergeText } from '../../rules/neurons/merge.ts'
import { formatSeqId } from '../../rules/neurons/seq-id.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import { counted } from '../../rules/text/numbers.ts'
import { type ImportedFields, type ImportNote, neuronOfNote } from './import-note.ts'
import {
  type Additions,
  aliasesFor,
  formerNamesOf,
  importConnector,
  importedFields,
  importMetadata,
  isMerged,
  newCandidate,
  type PastCandidate,
  type ReadNote,
  wishedPath,
} from './import-plan.ts'

export type ImportCounts = {
  created: number
  updated: number
  unchanged: number
  /** Number of changes that conflict with changes made here, so that their candidates are pending. */
  pending: number
}

/** Note with a change that conflicts with one made here. `path`: its path in the folder. */
export type ImportConflict = { path: string; candidateId: string }

/** Outcome of a batch. `written`: seqIds of new and changed Neurons. */
export type BatchOutcome = {
  counts: ImportCounts
  written: string[]
  created: { origin: string; path: string }[]
  conflicts: ImportConflict[]
}

/** Batch in progress: its outcome so far, and the staged changes of both refs. */
type Batch = BatchOutcome & {
  kb: KnowledgeBase
  staging: Staging
  actor: Actor
  at: Date
  candidates: Map<string, Candidate>
  files: Map<string, string | Buffer | null>
  pathKeys: Set<string>
  nextNumber: () => number
  /** Paths of the files that are imported with the notes. */
  attachments: ChangedFiles
}

export async function importBatch(
  kb: KnowledgeBase,
  staging: Staging,
  notes: readonly ReadNote[],
  { actor, at, attachments }: { actor: Actor; at: Date; attachments: ChangedFiles },
): Promise<BatchOutcome> {
  const batch: Batch = {
    ...{ kb, staging, actor, at, attachments, nextNumber: nextNumbers(kb) },
    ...{ candidates: new Map(), files: new Map(), pathKeys: new Set() },
    ...{ counts: { created: 0, updated: 0, unchanged: 0, pending: 0 }, written: [], created: [], conflicts: [] },
  }
  for (const file of notes) batch.counts[await importNote(batch, file)]++
  const { counts, written, created, conflicts, candidates, files } = batch
  const trailers = [['Connector', importConnector] as const]
  const message = commitMessage(`Propose ${counted(candidates.size, 'note')}`, trailers)
  await commitToQueue(kb, staging, [...candidates.values()], { by: actor, at, message })
  if (files.size > 0) {
    const subject = `Import ${counted(written.length, 'note')}`
    await commitToMain(kb, staging, { files, subject, trailers, decided: { operator: actor }, at })
  }
  return { counts, written, created, conflicts }
}

/**
 * Imports a note, depending on what earlier runs proposed for the same file: it is on main, pending (also after an interrupted run), or was
 * dismissed.
 */
async function importNote(batch: Batch, file: ReadNote): Promise<keyof ImportCounts> {
  const sql = batch.kb.projection.write
  const past = [file.formerSource ?? [], file.source]
    .flat()
    .flatMap((source) => candidatesOfOrigin(sql, importConnector, source))
  const latest = past.find(({ approval }) => approval !== undefined)
  const pending = past.filter(({ status }) => status === 'pending')
  const same = pending.find(({ fingerprint, removes }) => fingerprint === file.sha256 && !removes)
  for (const row of pending) if (row !== same) await withdraw(batch, row)
  if (latest?.fingerprint === file.sha256 && file.formerSource === undefined) return 'unchanged'
  if (same === undefined && (await wasRefused(batch, file, past, latest))) return 'unchanged'

  const target = latest?.approval === undefined ? undefined : findNeuron(sql, latest.approval.seqId)
  const waiting = same === undefined ? undefined : await readPast(batch, same)
  // The Neuron that it would change no longer exists.
  if (waiting !== undefined && waiting.record.target !== (target?.seqId ?? null)) {
    return noteConflict(batch, file, waiting.record)
  }
  const imported = latest === undefined ? undefined : await readPast(batch, latest)
  if (target === undefined || imported === undefined) {
    const additions = { isMerged: false, formerNames: [] }
    return addNew(batch, file, propose(batch, file, { target, imported, waiting, additions }))
  }
  return changeNeuron(batch, file, { target, imported, waiting })
}

async function changeNeuron(
  batch: Batch,
  file: ReadNote,
  { target, imported, waiting }: { target: NeuronRow; imported: PastCandidate; waiting: PastCandidate | undefined },
): Promise<'updated' | 'pending'> {
  const { kb, staging, files } = batch
  const { note } = file
  const path = newPath(batch, file, target)
  const aliases = [
    ...(note.text === undefined ? [] : parseNeuronFile(note.text).fields.aliases),
    ...aliasesFor(file, path),
  ]
  const lost = aliasesToKeep(kb, target.seqId, { path, title: note.title, aliases })
  const follow = (text: string) => {
    const page = { seqId: target.seqId, from: target.path, path, text }
    return followFiles({ sql: kb.projection.write, parser: kb.parser }, page, batch.attachments)
  }
  const isCurated = !isAsImported(kb, target, imported)
  const written = note.text ?? note.content
  const additions: Additions = {
    // Rewritten links of moved files count as a change made here, which the next run keeps.
    isMerged: isCurated || (await follow(written)) !== written,
    formerNames: [...new Set([...formerNamesOf(imported.record), ...lost])],
  }
  const candidate = propose(batch, file, { target, imported, waiting, additions })
  const fields = importedFields(file, {
    candidate: candidate.id,
    seqId: target.seqId,
    id: target.documentId ?? uuidv7(),
  })
  const names = [...aliasesFor(file, path), ...additions.formerNames]
  const text = isCurated
    ? await mergedNeuron(staging, { note, fields, target, before: imported.record, aliases: names })
    : neuronOfNote(note, fields, names)
  putPictures(batch, path, file)
  if (text === undefined) return noteConflict(batch, file, candidate)
  if (path !== target.path) files.set(target.path, null)
  files.set(path, await follow(text))
  batch.pathKeys.add(pathKey(path))
  batch.written.push(target.seqId)
  return 'updated'
}

/** Returns the Neuron's path. It follows a note that was renamed in the folder, unless somebody has moved the Neuron. */
function newPath({ kb, pathKeys }: Batch, { formerSource, source, origin, path }: ReadNote, target: NeuronRow): string {
  const formerOrigin = formerSource?.slice(source.length - origin.length)
  if (formerOrigin === undefined || wishedPath(formerOrigin) !== target.path) return target.path
  return pathKey(path) === pathKey(target.path) ? path : freePagePath(path, takenOnMain(kb.projection.write, pathKeys))
}

function noteConflict({ conflicts }: Batch, { origin }: ReadNote, { id }: Candidate): 'pending' {
  conflicts.push({ path: origin, candidateId: id })
  return 'pending'
}

async function readPast({ staging }: Batch, row: OriginRow): Promise<PastCandidate> {
  return { row, record: parseCandidate(await staging.readText(row.blob)) }
}

/** True if a curator dismissed the note in its present form since the last import. */
async function wasRefused(
  batch: Batch,
  { sha256 }: ReadNote,
  past: readonly OriginRow[],
  latest: OriginRow | undefined,
): Promise<boolean> {
  for (const row of past) {
    if (row.status !== 'dismissed' || row.fingerprint !== sha256) continue
    if (latest !== undefined && row.createdAt < latest.createdAt) continue
    const { record } = await readPast(batch, row)
    if (record.decisions.at(-1)?.by.id !== batch.actor.id) return true
  }
  return false
}

/** Withdraws the proposal of an earlier run for a file that has changed since. */
async function withdraw(batch: Batch, row: OriginRow): Promise<void> {
  const { record } = await readPast(batch, row)
  const decision = {
    action: 'dismiss',
    at: batch.at.toISOString(),
    by: batch.actor,
    reason: 'The file has changed since.',
  } as const
  batch.candidates.set(row.id, { ...record, decisions: [...record.decisions, decision] })
}

/** Puts the note's candidate on the queue, unless it is pending already. */
function propose(
  batch: Batch,
  file: ReadNote,
  known: {
    target: NeuronRow | undefined
    imported: PastCandidate | undefined
    waiting: PastCandidate | undefined
    additions: Additions
  },
): Candidate {
  const { target, imported, waiting, additions } = known
  const metadata = importMetadata(file, additions)
  const { title, content } = file.note
  // The note as last imported is the base, so that a curator's changes do not appear as the folder's.
  const base = target === undefined ? null : (imported?.row.blob ?? null)
  const own = { title, content, metadata, target: target?.seqId ?? null, base, removes: false }
  const candidate =
    waiting === undefined
      ? newCandidate(batch.kb, own, { ...batch, reason: 'imported by the operator' })
      : { ...waiting.record, metadata }
  if (waiting?.record.metadata !== metadata) batch.candidates.set(candidate.id, candidate)
  return candidate
}

function addNew(batch: Batch, file: ReadNote, candidate: Candidate): 'created' {
  const path = freePagePath(file.path, takenOnMain(batch.kb.projection.write, batch.pathKeys))
  const seqId = formatSeqId(batch.kb.identity.prefix, batch.nextNumber())
  const fields = importedFields(file, { candidate: candidate.id, seqId, id: uuidv7() })
  batch.files.set(path, neuronOfNote(file.note, fields, aliasesFor(file, path)))
  putPictures(batch, path, file)
  batch.pathKeys.add(pathKey(path))
  batch.written.push(seqId)
  batch.created.push({ origin: file.origin, path })
  return 'created'
}

/** Writes the pictures of a note, also for one in conflict, whose candidate shows them. Existing files of main stay. */
function putPictures({ kb, files }: Batch, path: string, { pictures }: ReadNote): void {
  for (const [name, bytes] of pictures) {
    const file = path.slice(0, path.lastIndexOf('/') + 1) + name
    if (!isBlocked(kb.projection.write, file)) files.set(file, bytes)
  }
}

/** True if a Neuron's file is as the import left it, without changes of a curator. */
function isAsImported(kb: KnowledgeBase, target: NeuronRow, { row, record }: PastCandidate): boolean {
  const version = row.approval && versionAt(kb.projection.write, target.seqId, row.approval.commit)
  return version?.blob === target.blob && !isMerged(record)
}

/**
 * Returns a Neuron's file with the note's changes since the last import: lines, title and tags. Everything else is the curators'. Undefined
 * if lines conflict with a curator's change.
 */
async function mergedNeuron(
  staging: Staging,
  {
    note,
    fields,
    target,
    before,
    aliases,
  }: {
    note: ImportNote
    fields: ImportedFields
    target: NeuronRow
    before: PastCandidate['record']
    /** Aliases to add to those of the Neuron. */
    aliases: readonly string[]
  },
): Promise<string | undefined> {
  const current = await staging.readText(target.blob)
  const held = parseNeuronFile(current)
  const merged = mergeText(before.content, held.content, note.content)
  if ('conflicts' in merged) return undefined
  const tagsBefore = readMetadata(parseMetadata(before.metadata).data).tags
  const removed = tagsBefore.filter((tag) => !note.tags.includes(tag))
  const added = note.tags.filter((tag) => !tagsBefore.includes(tag))
  const tags = [...new Set([...held.fields.tags.filter((tag) => !removed.includes(tag)), ...added])]
  const title = held.fields.title === before.title ? note.title : held.fields.title
  const allAliases = [...new Set([...held.fields.aliases, ...aliases])]
  return editNeuron(current, { ...fields, title, tags, aliases: allAliases }, merged.text)
}
