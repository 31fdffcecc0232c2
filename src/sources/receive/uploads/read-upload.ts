import type { UploadStatus } from '../../../contract/documents.ts'
import type { Context } from '../../../kb/context.ts'
import type { Caller } from '../../../rules/access/caller.ts'
import type { Upload } from '../../../state/sources/uploads.ts'
import { findUpload } from './find-upload.ts'

/** How far an upload is. @throws {GanglionError} `not_found`, `upload_expired` */
export async function readUpload(ctx: Context, caller: Caller, uploadId: string): Promise<UploadStatus> {
  return statusOf(await findUpload(ctx, caller, uploadId))
}

export function statusOf({ id, filename, fileSize, bytesReceived, isFinalized, expiresAt }: Upload): UploadStatus {
  return { uploadId: id, filename, fileSize, bytesReceived, status: isFinalized ? 'finalized' : 'open', expiresAt }
}
