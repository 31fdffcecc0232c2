import { GanglionError } from '../../../contract/errors.ts'
import type { Upload } from '../../../store/sources/uploads.ts'
import type { Caller } from '../../caller.ts'
import type { Ganglion } from '../../ganglion.ts'

/**
 * An upload of the caller's tenant, with the number of bytes that have arrived.
 * @throws {GanglionError} `not_found`, `upload_expired`
 */
export async function findUpload(ganglion: Ganglion, { tenantId }: Caller, id: string): Promise<Upload> {
  const upload = await ganglion.uploads.find(tenantId, id)
  if (upload === undefined) throw new GanglionError('not_found')
  if (Date.parse(upload.expiresAt) <= ganglion.now().getTime()) throw new GanglionError('upload_expired')
  return asStored(ganglion, upload)
}

/** An upload with the number of bytes that have arrived. */
export async function asStored({ uploadBytes }: Ganglion, upload: Upload): Promise<Upload> {
  return upload.isFinalized ? upload : { ...upload, bytesReceived: await uploadBytes.size(upload) }
}
