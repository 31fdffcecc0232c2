import type { Transaction } from 'kysely'
import { unreadStatus } from '../../contract/documents.ts'
import { GanglionError } from '../../contract/errors.ts'
import { sourceSight } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import type { Schema } from '../../state/database/schema.ts'
import { type Source, SourceExists } from '../../state/sources/source.ts'
import type { ReceivedFile } from '../../system/received-file.ts'
import type { SourceDraft } from '../source-draft.ts'

export type StoreOptions = {
  /** Id of the new Source. */
  id: string
  kbId: string
  /** Accepts bytes that the knowledge base already has. */
  force: boolean
  /** Makes it the next edition of the document with its folder and name. */
  replace: boolean
  /** Written together with the Source. */
  together?: (transaction: Transaction<Schema>) => Promise<void>
}

/**
 * Makes a Source from a received file, writes its event and enqueues its ingest, all or nothing. The caller removes the file.
 * @throws {GanglionError} `duplicate_source`, `quota_exceeded`, `not_found`
 */
export async function storeSource(
  ctx: Context,
  caller: Caller,
  file: ReceivedFile,
  draft: SourceDraft,
  { id, kbId, force, replace, together }: StoreOptions,
): Promise<Source> {
  const { blobs, sources, jobs, now } = ctx
  const status = unreadStatus(draft.fileType)
  const { tenantId } = caller
  const uploader = actorOf(caller)
  const content = { fileSize: file.size, contentHash: file.sha256 }
  const source = { ...draft, ...content, id, tenantId, kbId, status, errorMessage: null, uploader } as const
  const sees = await sourceSight(ctx, caller, kbId)
  // Another node may have made this very Source.
  const isVisible = (other: Source) => other.id !== id && sees(other)
  if (!force) await refuseDuplicate(ctx, { kbId, sha256: file.sha256, isVisible })
  await sources.requireRoom(tenantId, file.size)
  return blobs.keep(file, async (note) => {
    try {
      return await sources.add(source, now(), {
        force,
        replace,
        isVisible,
        async together(transaction) {
          await jobs.inTransaction(transaction).enqueue({ documentId: id, tenantId, kbId }, now())
          await together?.(transaction)
          await note(transaction)
        },
      })
    } catch (error) {
      throw error instanceof SourceExists ? duplicateSource(error.existing) : error
    }
  })
}

/** Rejects a duplicate. @throws {GanglionError} `duplicate_source` if a visible Source that is not archived has the same bytes */
export async function refuseDuplicate(
  { sources }: Context,
  { kbId, sha256, isVisible }: { kbId: string; sha256: string; isVisible: (source: Source) => boolean },
): Promise<void> {
  const existing = await sources.findDuplicate(kbId, sha256, isVisible)
  if (existing !== undefined) throw duplicateSource(existing)
}

function duplicateSource({ id, filename, path, createdAt }: Source): GanglionError {
  return new GanglionError('duplicate_source', `The same bytes were uploaded as ${filename}.`, {
    existingDocumentId: id,
    existingFilename: filename,
    existingPath: path,
    existingCreatedAt: createdAt,
    hint: 'Append ?force=true to upload it anyway, as a separate Source.',
  })
}
