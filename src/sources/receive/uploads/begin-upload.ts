import { v7 as uuidv7 } from 'uuid'
import {
  maxChunkBytes,
  maxChunkedBytes,
  type UploadInput,
  type UploadQuery,
  UploadTicket,
} from '../../../contract/documents.ts'
import { GanglionError } from '../../../contract/errors.ts'
import { sourceSight } from '../../../kb/access/kb-view.ts'
import type { Context } from '../../../kb/context.ts'
import { actorOf, type Caller } from '../../../rules/access/caller.ts'
import { runIdempotent } from '../../../state/run-idempotent.ts'
import { TooManyUploads, type Upload } from '../../../state/sources/upload-store.ts'
import { findKb, sourceTypes } from '../../find-source.ts'
import { readFilename, readPath, readSourceMetadata } from '../../source-draft.ts'
import { refuseDuplicate } from '../store-source.ts'

/**
 * Begins an upload in chunks.
 * @throws {GanglionError} `not_found`, `file_type_not_allowed`, `payload_too_large`, `duplicate_source`, `too_many_uploads`,
 *   `idempotency_key_reused` @throws {ValidationError}
 */
export async function beginUpload(
  ctx: Context,
  caller: Caller,
  kbName: string,
  input: UploadInput,
  { force, replace, idempotencyKey }: UploadQuery & { idempotencyKey?: string },
): Promise<UploadTicket> {
  const { id: kbId } = await findKb(ctx, caller, kbName)
  const { tenantId } = caller
  const { fileSize, contentHash = null } = input
  if (fileSize > maxChunkedBytes) throw new GanglionError('payload_too_large', 'The file is larger than 2 GB.')
  const { filename } = readFilename(input.filename, 'filename', await sourceTypes(ctx, caller, kbId))
  const { metadata } = readSourceMetadata(input.metadata)
  const upload = {
    tenantId,
    kbId,
    filename,
    path: readPath(input.path),
    metadata,
    fileSize,
    contentHash,
    isForced: force,
    replaces: replace,
  }
  const request = {
    route: 'POST /api/v1/knowledge-bases/{kbId}/documents/upload/init',
    body: upload,
    idempotencyKey,
    newId: () => uuidv7(),
    parse: (answer: unknown) => UploadTicket.parse(answer),
    committed: async (id: string) => {
      const begun = await ctx.uploads.find(tenantId, id)
      return begun && ticketOf(begun)
    },
  }
  return runIdempotent(ctx, caller, request, async (id) => {
    await ctx.sources.requireRoom(tenantId, fileSize)
    if (contentHash !== null && !force) {
      const isVisible = await sourceSight(ctx, caller, kbId)
      await refuseDuplicate(ctx, { kbId, sha256: contentHash, isVisible })
    }
    try {
      return ticketOf(await ctx.uploads.begin({ id, ...upload, uploaderId: actorOf(caller).id }, ctx.now()))
    } catch (error) {
      throw error instanceof TooManyUploads ? new GanglionError('too_many_uploads') : error
    }
  })
}

function ticketOf({ id, expiresAt }: Upload): UploadTicket {
  return { uploadId: id, chunkSize: maxChunkBytes, expiresAt }
}
