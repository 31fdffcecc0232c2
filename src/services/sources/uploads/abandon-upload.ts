import type { Caller } from '../../caller.ts'
import type { Ganglion } from '../../ganglion.ts'
import { findUpload } from './find-upload.ts'

/**
 * Removes an upload and its bytes. If it has become a Source, that stays.
 * @throws {GanglionError} `not_found`, `upload_expired`
 */
export async function abandonUpload(ganglion: Ganglion, caller: Caller, uploadId: string): Promise<void> {
  await ganglion.uploadLocks.run(uploadId, async () => {
    await findUpload(ganglion, caller, uploadId)
    await ganglion.uploads.remove(uploadId)
    await ganglion.uploadBytes.remove(uploadId)
  })
}
