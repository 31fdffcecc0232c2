import { fileTypes, type Source, type UploadQuery } from '../../contract/documents.ts'
import { GanglionError } from '../../contract/errors.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { findUpload } from './find-upload.ts'
import { readFilename, readSourceMetadata } from './source-draft.ts'
import { toSource } from './source-view.ts'
import { storeSource } from './store-source.ts'

/** What was taken when it began. */
const everyType = new Set(fileTypes)

/**
 * Makes the Source of an upload whose bytes are all there; asked again, gives it again.
 * @throws {GanglionError} `not_found`, `upload_expired`, `incomplete`, `hash_mismatch`, `duplicate_source`
 */
export async function finalizeUpload(
  ganglion: Ganglion,
  caller: Caller,
  uploadId: string,
  { force, replace }: UploadQuery,
): Promise<Source> {
  const { sources, uploads, uploadFiles, uploadLocks, now } = ganglion
  return uploadLocks.run(uploadId, async () => {
    const upload = await findUpload(ganglion, caller, uploadId)
    const earlier = await sources.find(caller.tenantId, uploadId)
    if (earlier !== undefined) return toSource(earlier)
    const { kbId, filename, path, metadata, fileSize, contentHash, isForced, replaces, bytesReceived } = upload
    if (bytesReceived < fileSize) throw new GanglionError('incomplete', undefined, { bytesReceived })
    const file = await uploadFiles.finish(uploadId, fileSize)
    if (contentHash !== null && contentHash !== file.sha256) {
      throw new GanglionError('hash_mismatch', undefined, { bytesReceived })
    }
    const draft = { ...readFilename(filename, 'filename', everyType), path, ...readSourceMetadata(metadata) }
    const source = await storeSource(ganglion, caller, file, draft, {
      id: uploadId,
      kbId,
      force: force || isForced,
      replace: replace || replaces,
      together: (transaction) => uploads.finalize(uploadId, now(), transaction),
    })
    await uploadFiles.remove(uploadId)
    return toSource(source)
  })
}
