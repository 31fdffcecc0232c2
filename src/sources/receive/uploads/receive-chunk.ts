import { maxChunkBytes, type UploadProgress } from '../../../contract/documents.ts'
import { GanglionError } from '../../../contract/errors.ts'
import type { Context } from '../../../kb/context.ts'
import type { Caller } from '../../../rules/access/caller.ts'
import { ChunkDiffers } from '../../../state/blobs/upload-bytes.ts'
import { findUpload } from './find-upload.ts'

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
