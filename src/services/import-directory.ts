import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { v7 as uuidv7 } from 'uuid'
import type { Staging } from '../git/staging.ts'
import type { Actor, Candidate } from '../knowledge/candidate.ts'
import { candidateIdFor } from '../knowledge/candidate-id.ts'
import { resolveTarget } from '../knowledge/link-target.ts'
import { mergeText } from '../knowledge/merge.ts'
import { pathKey } from '../knowledge/portable-path.ts'
import { formatSeqId } from '../knowledge/seq-id.ts'
import { editNeuron, parseNeuronFile } from '../markdown/neuron-file.ts'
import { latestOfOrigin, type OriginRow } from '../store/candidate-index.ts'
import { findNeuron, isPathTaken, linksOf, type NeuronRow, namesByKey, versionAt } from '../store/neuron-queries.ts'
import { commitMessage, signatureOf } from './commit-message.ts'
import { importAttachments } from './import-attachments.ts'
import { type Note, neuronOfNote, readNote } from './import-note.ts'
import { type PlannedFile, planImport } from './import-plan.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { nextNumber } from './seq-numbers.ts'

export type ImportReport = {
  created: number
  updated: number
  unchanged: number
  /** Changed here and there in ways that conflict: candidates that wait for a curator. */
  pending: number
  attachments: number
  renamed: { from: string; to: string }[]
  skipped: { path: string; reason: string }[]
  unresolved: { path: string; target: string; reason: 'missing' | 'ambiguous' }[]
}

type ImportOptions = { actor: Actor; now: () => Date; onProgress?: (done: number, total: number) => void }
type ReadNote = PlannedFile & { note: Note; sha256: string }
/** What a batch puts on the two refs. */
type Batch = { candidates: Candidate[]; files: Map<string, string>; seqIds: string[] }

const connector = 'import'
const batchNotes = 250
const batchBytes = 8 * 1024 * 1024

/**
 * Brings a folder of Markdown into a knowledge base: each note a Neuron with its candidate, one commit a batch. Run again, it
 * imports what has changed since, also where a run was cut off; what a curator has edited meanwhile is merged.
 */
export async function importDirectory(kb: KnowledgeBase, dir: string, options: ImportOptions): Promise<ImportReport> {
  const { notes, attachments, renamed, skipped } = await planImport(dir)
  const report: ImportReport = {
    ...{ created: 0, updated: 0, unchanged: 0, pending: 0, attachments: 0 },
    ...{ renamed, skipped, unresolved: [] },
  }
  const total = notes.length + attachments.length
  let done = 0
  const seqIds: string[] = []
  for (const batch of batches(notes)) {
    const read = await Promise.all(batch.map((file) => readPlanned(file, report)))
    const outcome = await kb.write((staging) =>
      importBatch(
        kb,
        staging,
        read.filter((note) => note !== undefined),
        options,
      ),
    )
    seqIds.push(...outcome.seqIds)
    for (const key of ['created', 'updated', 'unchanged', 'pending'] as const) report[key] += outcome.counts[key]
    done += batch.length
    options.onProgress?.(done, total)
  }
  report.attachments = await importAttachments(kb, attachments, options)
  options.onProgress?.(total, total)
  report.unresolved = unresolvedLinks(kb, seqIds)
  return report
}

function* batches(notes: readonly PlannedFile[]): Generator<PlannedFile[]> {
  let batch: PlannedFile[] = []
  let bytes = 0
  for (const note of notes) {
    if (batch.length >= batchNotes || bytes + note.size > batchBytes) {
      if (batch.length > 0) yield batch
      batch = []
      bytes = 0
    }
    batch.push(note)
    bytes += note.size
  }
  if (batch.length > 0) yield batch
}

async function readPlanned(file: PlannedFile, report: ImportReport): Promise<ReadNote | undefined> {
  const bytes = await readFile(file.absolute)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (text.includes('\0')) throw new TypeError('NUL')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return { ...file, note: readNote(file.origin, text), sha256 }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    report.skipped.push({ path: file.origin, reason: 'is not UTF-8 text' })
    return undefined
  }
}

async function importBatch(
  kb: KnowledgeBase,
  staging: Staging,
  notes: readonly ReadNote[],
  { actor, now }: ImportOptions,
) {
  const batch: Batch = { candidates: [], files: new Map(), seqIds: [] }
  const counts = { created: 0, updated: 0, unchanged: 0, pending: 0 }
  let number = nextNumber(kb)
  const at = now()
  for (const file of notes) {
    const before = latestOfOrigin(kb.projection.write, connector, file.origin)
    if (before?.fingerprint === file.sha256 && before.approval !== undefined) {
      counts.unchanged++
      continue
    }
    const target = before?.approval === undefined ? undefined : findNeuron(kb.projection.write, before.approval.seqId)
    const candidate = candidateOf(kb, file, { target, before, actor, at })
    if (target === undefined) {
      addNew(kb, batch, file, candidate, formatSeqId(kb.identity.prefix, number++))
      counts.created++
    } else {
      counts[await addChanged(kb, staging, batch, file, candidate, target, before)]++
    }
  }
  await commitBatch(kb, staging, batch, actor, at)
  return { counts, seqIds: batch.seqIds }
}

async function commitBatch(kb: KnowledgeBase, staging: Staging, batch: Batch, actor: Actor, at: Date): Promise<void> {
  const author = signatureOf(actor, at)
  const subject = `Import ${batch.candidates.length} notes`
  const message = commitMessage(subject, { Connector: connector })
  if (batch.candidates.length > 0)
    await kb.commitToQueue(staging, { candidates: batch.candidates, message, author, at })
  if (batch.files.size > 0) await kb.commitToMain(staging, { files: batch.files, message, author, at })
}

/** The same file gives the same candidate, so that a run after one that was cut off goes on with what that one proposed. */
function candidateOf(
  kb: KnowledgeBase,
  { origin, sha256, modifiedAt, note }: ReadNote,
  {
    target,
    before,
    actor,
    at,
  }: { target: NeuronRow | undefined; before: OriginRow | undefined; actor: Actor; at: Date },
): Candidate {
  const random = createHash('sha256')
    .update(`${origin}\0${sha256}\0${before?.approval === undefined ? '' : before.id}`)
    .digest()
  return {
    id: candidateIdFor(kb.identity.id, {
      msecs: Math.max(0, Math.floor(modifiedAt.getTime())),
      random: random.subarray(0, 6),
    }),
    kind: target === undefined ? 'external-feed' : 'ingest-page-update',
    title: note.title,
    content: note.content,
    metadata: JSON.stringify({ connector, filename: origin, fingerprint: sha256, tags: note.tags }),
    confidence: null,
    impactEstimate: null,
    connector,
    target: target?.seqId ?? null,
    base: target?.blob ?? null,
    verdict: { approve: false, zone: null, reason: 'imported by the operator', warnings: [] },
    createdAt: at.toISOString(),
    createdBy: actor,
    decisions: [],
  }
}

function addNew(kb: KnowledgeBase, batch: Batch, file: ReadNote, candidate: Candidate, seqId: string): void {
  const path = freePath(kb, batch, file.path)
  const text = neuronOfNote(file.note, importedFields(file, candidate, seqId, uuidv7()), aliasesFor(file, path))
  batch.candidates.push(candidate)
  batch.files.set(path, text)
  batch.seqIds.push(seqId)
}

/** An edit here and a change there are merged; where they conflict, the candidate waits for a curator. */
async function addChanged(
  kb: KnowledgeBase,
  staging: Staging,
  batch: Batch,
  file: ReadNote,
  candidate: Candidate,
  target: NeuronRow,
  before: OriginRow | undefined,
): Promise<'updated' | 'pending'> {
  const current = await staging.readText(target.blob)
  const imported = importedFields(file, candidate, target.seqId, target.documentId ?? uuidv7())
  batch.candidates.push(candidate)
  if (before === undefined || target.candidateId === before.id) {
    batch.files.set(target.path, neuronOfNote(file.note, imported, aliasesFor(file, target.path)))
  } else {
    const base = before.approval && versionAt(kb.projection.write, target.seqId, before.approval.commit)?.blob
    const baseContent = base ? parseNeuronFile(await staging.readText(base)).content : ''
    const merged = mergeText(baseContent, parseNeuronFile(current).content, file.note.content)
    if ('conflicts' in merged) return 'pending'
    batch.files.set(target.path, editNeuron(current, imported, merged.text))
  }
  batch.seqIds.push(target.seqId)
  return 'updated'
}

function importedFields({ origin, sha256 }: ReadNote, candidate: Candidate, seqId: string, id: string) {
  return { seqId, id, candidate: candidate.id, connector, sources: [{ filename: origin, sha256 }] }
}

/** A note whose file had to be renamed still answers to the name that others link to. */
function aliasesFor({ origin, note }: ReadNote, path: string): string[] {
  const nameOf = (file: string) => file.slice(file.lastIndexOf('/') + 1).replace(/\.(?:md|markdown)$/i, '')
  return nameOf(origin) === nameOf(path) || nameOf(origin) === note.title ? [] : [nameOf(origin)]
}

function freePath(kb: KnowledgeBase, batch: Batch, path: string): string {
  const isTaken = (candidate: string) =>
    batch.files.has(candidate) || isPathTaken(kb.projection.write, pathKey(candidate))
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? path : path.replace(/\.md$/, `-${number}.md`)
    if (!isTaken(candidate)) return candidate
  }
}

function unresolvedLinks(kb: KnowledgeBase, seqIds: readonly string[]): ImportReport['unresolved'] {
  const { read: sql } = kb.projection
  return seqIds.flatMap((seqId) => {
    const path = findNeuron(sql, seqId)?.path ?? seqId
    return linksOf(sql, seqId).flatMap(({ kb: otherKb, target }) => {
      if (otherKb !== null && otherKb !== kb.identity.slug) return []
      const found = resolveTarget(target, (key) => namesByKey(sql, key))
      if ('seqId' in found) return []
      return [{ path, target, reason: 'missing' in found ? ('missing' as const) : ('ambiguous' as const) }]
    })
  })
}
