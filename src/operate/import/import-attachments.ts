import { readFile } from 'node:fs/promises'
import { lastWritten } from '../../git/history/history.ts'
import { hashObject, type Oid } from '../../git/objects/object.ts'
import type { Staging } from '../../git/staging.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { blobAtPath, isBlocked } from '../../kb/projection/file-queries.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { commitToMain } from '../../kb/writing/commits.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import { checkLfsPointer, maxPointerBytes } from '../../rules/check/check-content.ts'
import type { PlannedFile, Skipped } from './import-plan.ts'
import { fileBatches } from './read-notes.ts'

type ReadFile = PlannedFile & { data: Buffer }
export type AttachmentReport = { imported: PlannedFile[]; skipped: Skipped[] }

const filesAtOnce = { files: Number.POSITIVE_INFINITY, bytes: 16 * 1024 * 1024 }

/**
 * Puts new and changed files next to the notes that show them. Files that somebody has changed or removed in the knowledge base stay as
 * they are there.
 */
export async function importAttachments(
  kb: KnowledgeBase,
  attachments: readonly PlannedFile[],
  { actor, now, onRead }: { actor: Actor; now: () => Date; onRead: (files: number) => void },
): Promise<AttachmentReport> {
  const report: AttachmentReport = { imported: [], skipped: [] }
  if (attachments.length === 0) return report
  const head = await kb.repository.readRef(mainRef)
  const before = head === undefined ? new Map() : await lastWritten(kb.repository, head, 'Connector: import')
  for (const planned of fileBatches(attachments, filesAtOnce)) {
    const batch = await readFiles(planned, report.skipped)
    const { imported, skipped } = await kb.write((staging) => importBatch(kb, staging, batch, before, actor, now()))
    report.imported.push(...imported)
    report.skipped.push(...skipped)
    onRead(batch.length)
  }
  return report
}

async function readFiles(files: readonly PlannedFile[], skipped: Skipped[]): Promise<ReadFile[]> {
  const read: ReadFile[] = []
  for (const file of files) {
    const data = await readFile(file.absolute).catch(() => undefined)
    const isPointer = data && data.length <= maxPointerBytes && checkLfsPointer(data.toString('utf8')).length > 0
    if (data === undefined) skipped.push({ path: file.origin, reason: 'cannot be read' })
    else if (isPointer)
      skipped.push({ path: file.origin, reason: 'is a Git LFS pointer, not the file: run git lfs pull in the folder' })
    else read.push({ ...file, data })
  }
  return read
}

async function importBatch(
  kb: KnowledgeBase,
  staging: Staging,
  batch: readonly ReadFile[],
  before: ReadonlyMap<string, Oid>,
  actor: Actor,
  at: Date,
): Promise<AttachmentReport> {
  const report: AttachmentReport = { imported: [], skipped: [] }
  const files = new Map<string, Buffer>()
  for (const { data, ...file } of batch) {
    const { path, origin } = file
    const reason = reasonToLeave(kb, path, hashObject('blob', data), before.get(path))
    if (reason === undefined) {
      files.set(path, data)
      report.imported.push(file)
    } else if (reason !== 'unchanged') report.skipped.push({ path: origin, reason })
  }
  if (files.size === 0) return report
  const [subject, trailers] = [`Import ${files.size} attachments`, [['Connector', 'import'] as const]]
  await commitToMain(kb, staging, { files, subject, trailers, decided: { operator: actor }, at })
  return report
}

/** Returns a reason not to write a file, if there is one: compares the folder, the last import, and main. */
function reasonToLeave(kb: KnowledgeBase, path: string, ours: Oid, before: Oid | undefined): string | undefined {
  const { write: sql } = kb.projection
  const present = blobAtPath(sql, path)
  if (present === ours || before === ours) return 'unchanged'
  if (present === before) return present === undefined && isBlocked(sql, path) ? taken : undefined
  if (present === undefined) return undefined
  return before === undefined ? taken : 'was changed in the knowledge base too'
}

const taken = 'has the name of another file in the knowledge base'
