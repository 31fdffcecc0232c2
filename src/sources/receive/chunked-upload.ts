import { v7 as uuidv7 } from 'uuid'
import {
  fileTypes,
  maxChunkBytes,
  maxChunkedBytes,
  type SourceAnswer,
  type UploadInput,
  type UploadProgress,
  type UploadQuery,
  type UploadStatus,
  UploadTicket,
} from '../../contract/documents.ts'
import { GanglionError } from '../../contract/errors.ts'
import { sourceSight } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import { ChunkDiffers, UploadChanged } from '../../state/blobs/upload-bytes.ts'
import { orCommitted, runIdempotent } from '../../state/run-idempotent.ts'
import { TooManyUploads, type Upload } from '../../state/sources/upload-store.ts'
import { findKb, sourceTypes } from '../find-source.ts'
import { toSourceAnswer } from '../read-source.ts'
import { readFilename, readPath, readSourceMetadata } from '../source-draft.ts'
import { refuseDuplicate, storeSource } from './upload-source.ts'

/**
 * Returns an upload, with the number of received bytes, to its uploader or a curator: others may not know its file and tags, and
 * whoever finalizes it sees the Source.
 * @throws {GanglionError} `not_found`, `upload_expired`
 */
async function findUpload(ctx: Context, caller: Caller, id: string): Promise<Upload> {
  const upload = await ctx.uploads.find(caller.tenantId, id)
  if (upload === undefined || !isThereFor(caller, upload)) throw new GanglionError('not_found')
  if (Date.parse(upload.expiresAt) <= ctx.now().getTime()) throw new GanglionError('upload_expired')
  return asStored(ctx, upload)
}

function isThereFor(caller: Caller, { uploaderId }: Upload): boolean {
  return caller.role === 'curator' || uploaderId === null || uploaderId === actorOf(caller).id
}

async function asStored({ uploadBytes }: Context, upload: Upload): Promise<Upload> {
  return upload.isFinalized ? upload : { ...upload, bytesReceived: await uploadBytes.size(upload) }
}

/** Returns the progress of an upload. @throws {GanglionError} `not_found`, `upload_expired` */
export async function readUpload(ctx: Context, caller: Caller, uploadId: string): Promise<UploadStatus> {
  return statusOf(await findUpload(ctx, caller, uploadId))
}

/** Returns the caller's unfinished uploads into a knowledge base. @throws {GanglionError} `not_found` */
export async function listOpenUploads(ctx: Context, caller: Caller, kbName: string): Promise<UploadStatus[]> {
  const { id } = await findKb(ctx, caller, kbName)
  const open = await ctx.uploads.openOf(id, actorOf(caller).id, ctx.now())
  return Promise.all(open.map(async (upload) => statusOf(await asStored(ctx, upload))))
}

function statusOf({ id, filename, fileSize, bytesReceived, isFinalized, expiresAt }: Upload): UploadStatus {
  return { uploadId: id, filename, fileSize, bytesReceived, status: isFinalized ? 'finalized' : 'open', expiresAt }
}

/**
 * Removes an upload and its bytes. If it has become a Source, that stays.
 * @throws {GanglionError} `not_found`, `upload_expired`
 */
export async function abandonUpload(ctx: Context, caller: Caller, uploadId: string): Promise<void> {
  await ctx.uploadLocks.run(uploadId, async () => {
    await findUpload(ctx, caller, uploadId)
    await ctx.uploads.remove(uploadId)
    await ctx.uploadBytes.remove(uploadId)
  })
}

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

/** Position of a chunk: its first and last byte, counted from 0, and the size of the whole file. */
export type ChunkRange = { first: number; last: number; total: number }

/**
 * Appends a chunk to an upload; concurrent calls wait. If a chunk breaks off, the bytes that arrived are kept.
 * @throws {GanglionError} `not_found`, `upload_expired`, `upload_finalized`, `range_not_satisfiable`, `payload_too_large`,
 *   `offset_mismatch`, `chunk_differs`, `malformed_request` for more or fewer bytes than the range has, and whatever the bytes
 *   throw
 */
export async function receiveChunk(
  ctx: Context,
  caller: Caller,
  uploadId: string,
  { first, last, total }: ChunkRange,
  bytes: AsyncIterable<Uint8Array>,
): Promise<UploadProgress> {
  const length = last - first + 1
  const admit = async () => {
    const { fileSize, bytesReceived, isFinalized } = await findUpload(ctx, caller, uploadId)
    if (isFinalized) throw new GanglionError('upload_finalized')
    if (total !== fileSize || last >= total || first > last) throw new GanglionError('range_not_satisfiable')
    if (length > maxChunkBytes) throw new GanglionError('payload_too_large')
    if (first > bytesReceived) throw new GanglionError('offset_mismatch', undefined, { bytesReceived })
    return bytesReceived
  }
  await findUpload(ctx, caller, uploadId) // others' are not waited for
  return ctx.uploadLocks.run(uploadId, async () => {
    const chunk = { start: first, bytes: exactly(length, bytes) }
    const { received, failure } = await ctx.uploadBytes.append(uploadId, chunk, admit)
    if (failure instanceof ChunkDiffers)
      throw new GanglionError('chunk_differs', undefined, { bytesReceived: received })
    if (failure !== undefined) throw failure
    return { uploadId, bytesReceived: received }
  })
}

async function* exactly(length: number, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = length
  for await (const chunk of bytes) {
    left -= chunk.length
    if (left < 0) break
    yield chunk
  }
  if (left !== 0) throw new GanglionError('malformed_request', 'The chunk does not have as many bytes as its range.')
}

/** Any file type: it was checked when the upload began. */
const everyType = new Set(fileTypes)

/**
 * Makes the Source of a complete upload. Repeating the call returns the same Source.
 * @throws {GanglionError} `not_found`, `upload_expired`, `incomplete`, `hash_mismatch`, `duplicate_source`
 */
export function finalizeUpload(
  ctx: Context,
  caller: Caller,
  uploadId: string,
  query: UploadQuery,
): Promise<SourceAnswer> {
  return ctx.uploadLocks.run(uploadId, async () => {
    const finalize = () => finalizeOnce(ctx, caller, uploadId, query)
    try {
      return await finalize()
    } catch (error) {
      // Another node has finalized or abandoned it meanwhile.
      if (error instanceof UploadChanged) return finalize()
      throw error
    }
  })
}

async function finalizeOnce(
  ctx: Context,
  caller: Caller,
  uploadId: string,
  { force, replace }: UploadQuery,
): Promise<SourceAnswer> {
  const { sources, uploads, uploadBytes, now } = ctx
  const upload = await findUpload(ctx, caller, uploadId)
  const stored = () => sources.find(caller.tenantId, uploadId)
  const earlier = await stored()
  if (earlier !== undefined) return toSourceAnswer(earlier)
  const { kbId, filename, path, metadata, fileSize, contentHash, isForced, replaces, bytesReceived } = upload
  if (bytesReceived < fileSize) {
    await findUpload(ctx, caller, uploadId) // of one that another node abandons meanwhile, the bytes go last
    throw new GanglionError('incomplete', undefined, { bytesReceived })
  }
  const draft = { ...readFilename(filename, 'filename', everyType), path, ...readSourceMetadata(metadata) }
  const store = () =>
    uploadBytes.withFile(uploadId, fileSize, (file) => {
      if (contentHash !== null && contentHash !== file.sha256) {
        throw new GanglionError('hash_mismatch', undefined, { bytesReceived })
      }
      return storeSource(ctx, caller, file, draft, {
        id: uploadId,
        kbId,
        force: force || isForced,
        replace: replace || replaces,
        async together(transaction) {
          if (!(await uploads.finalize(uploadId, now(), transaction))) throw new UploadChanged(uploadId)
        },
      })
    })
  const source = await orCommitted(ctx, stored, store)
  await uploadBytes.remove(uploadId).catch(ctx.onError) // a sweep removes what stays
  return toSourceAnswer(source)
}
