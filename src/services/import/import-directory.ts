import { basename, resolve } from 'node:path'
import { audiences } from '../../knowledge/audience.ts'
import type { Actor } from '../../knowledge/candidate.ts'
import { filePaths } from '../../store/neuron-queries.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { importAttachments } from './import-attachments.ts'
import { type Conflict, type ImportCounts, importBatch } from './import-batch.ts'
import { type UnresolvedLink, unresolvedLinks } from './import-links.ts'
import { type PlannedFile, planImport, type Skipped } from './import-plan.ts'
import { type NoteNotice, readNotes } from './read-notes.ts'

export type ImportReport = ImportCounts & {
  attachments: number
  /** New files whose path is not the one that they have in the folder. */
  renamed: { from: string; to: string }[]
  skipped: Skipped[]
  /** Links of new and changed Neurons. */
  unresolved: UnresolvedLink[]
  /** Neurons that were changed here and in the folder in ways that conflict. Each has a candidate that waits. */
  conflicts: Conflict[]
  /** What the authors of the notes should know. */
  notices: NoteNotice[]
}

export type ImportOptions = {
  actor: Actor
  now: () => Date
  /** What tells this folder from another whose files have the same names; without it, the folder's own name. */
  source?: string | undefined
  onProgress?: (done: number, total: number) => void
}

const batchNotes = 250
const batchBytes = 8 * 1024 * 1024

/**
 * Brings a folder of Markdown into a knowledge base: each note a Neuron with its candidate, one commit a batch. Run again, it
 * imports what has changed since, also where a run was cut off; what a curator has edited meanwhile is merged, and where the
 * two conflict a candidate waits for a decision.
 */
export async function importDirectory(
  kb: KnowledgeBase,
  dir: string,
  { actor, now, onProgress, source = basename(resolve(dir)) }: ImportOptions,
): Promise<ImportReport> {
  const { notes, attachments, skipped } = await planImport(dir, source, filePaths(kb.projection.read))
  const report: ImportReport = {
    ...{ created: 0, updated: 0, unchanged: 0, pending: 0, attachments: 0 },
    ...{ renamed: [], skipped, unresolved: [], conflicts: [], notices: [] },
  }
  const knownAudiences = new Set([...audiences, ...(await kb.settings()).defaultAudience])
  const total = notes.length + attachments.length
  let done = 0
  const advance = (files: number) => {
    done += files
    onProgress?.(done, total)
  }
  const noteRename = (from: string, path: string) => {
    if (path !== `neurons/${from}`) report.renamed.push({ from, to: path })
  }
  const seqIds: string[] = []
  for (const batch of batches(notes)) {
    const read = await readNotes(batch, { knownAudiences })
    skipped.push(...read.skipped)
    report.notices.push(...read.notices)
    const { counts, written, created, conflicts } = await kb.write((staging) =>
      importBatch(kb, staging, read.notes, { actor, at: now() }),
    )
    seqIds.push(...written)
    report.conflicts.push(...conflicts)
    for (const key of ['created', 'updated', 'unchanged', 'pending'] as const) report[key] += counts[key]
    for (const { origin, path } of created) noteRename(origin, path)
    advance(batch.length)
  }
  const beside = await importAttachments(kb, attachments, { actor, now, onRead: advance })
  report.attachments = beside.imported.length
  skipped.push(...beside.skipped)
  for (const { origin, path } of beside.imported) noteRename(origin, path)
  report.unresolved = unresolvedLinks(kb, seqIds, attachments)
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
