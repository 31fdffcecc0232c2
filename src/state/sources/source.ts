import type { Selectable } from 'kysely'
import { z } from 'zod'
import type { SourceStatus } from '../../contract/documents.ts'
import type { SourceRow } from '../database/schema.ts'

/** A raw file that was uploaded, and what has become of it. Times are ISO 8601, UTC. */
export type Source = {
  /** UUIDv7: the document's id. */
  id: string
  tenantId: string
  kbId: string
  /** Within the knowledge base, from 1; never used again. */
  seq: number
  filename: string
  /** Folder in the tree of Sources; `/` is its root. */
  path: string
  /** Extension without dot, in lower case. */
  fileType: string
  /** Bytes. */
  fileSize: number
  /** SHA-256 of the bytes: their name in the blob store. */
  contentHash: string
  status: SourceStatus
  /** For people. */
  errorMessage: string | null
  /** Separated by commas. */
  tags: string | null
  connector: string
  sourceUrl: string | null
  /** The text of a JSON object, as uploaded. */
  metadata: string | null
  uploader: { id: string; name: string }
  /** Ingests that were begun. */
  attempt: number
  createdAt: string
  /** When its text was last read. */
  extractedAt: string | null
  archivedAt: string | null
  /** The id of the first of the Sources that are one document: its own, unless it came to replace another. */
  editionOf: string
  /** What its last ingest lost, or did another way than it was set to: for people. */
  warnings: string[]
}

export function tagsOf({ tags }: Pick<Source, 'tags'>): string[] {
  return tags === null ? [] : tags.split(',').filter((tag) => tag !== '')
}

/** A row of the table as it is told of. */
export function toSource(row: Selectable<SourceRow>): Source {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    kbId: row.kb_id,
    seq: row.seq,
    filename: row.filename,
    path: row.path,
    fileType: row.file_type,
    fileSize: row.file_size,
    contentHash: row.content_hash,
    status: row.status,
    errorMessage: row.error_message,
    tags: row.tags,
    connector: row.connector,
    sourceUrl: row.source_url,
    metadata: row.metadata,
    uploader: { id: row.uploader_id, name: row.uploader_name },
    attempt: row.attempt,
    createdAt: row.created_at,
    extractedAt: row.extracted_at,
    archivedAt: row.archived_at,
    editionOf: row.edition_of,
    warnings: z.array(z.string()).parse(JSON.parse(row.warnings)),
  }
}
