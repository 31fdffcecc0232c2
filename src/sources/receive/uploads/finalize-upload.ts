import { fileTypes, type SourceAnswer, type UploadQuery } from '../../../contract/documents.ts'
import { GanglionError } from '../../../contract/errors.ts'
import type { Context } from '../../../kb/context.ts'
import type { Caller } from '../../../rules/access/caller.ts'
import { UploadChanged } from '../../../state/blobs/upload-bytes.ts'
import { orCommitted } from '../../../state/run-idempotent.ts'
import { toSourceAnswer } from '../../read-source.ts'
import { readFilename, readSourceMetadata } from '../../source-draft.ts'
import { storeSource } from '../store-source.ts'
import { findUpload } from './find-upload.ts'

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
