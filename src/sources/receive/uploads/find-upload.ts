import type { UploadStatus } from '../../../contract/documents.ts'
import { GanglionError } from '../../../contract/errors.ts'
import type { Context } from '../../../kb/context.ts'
import { actorOf, type Caller } from '../../../rules/access/caller.ts'
import type { Upload } from '../../../state/sources/upload-store.ts'
import { findKb } from '../../find-source.ts'

/**
 * Returns an upload, with the number of received bytes, to its uploader or a curator: others may not know its file and tags, and
 * whoever finalizes it sees the Source.
 * @throws {GanglionError} `not_found`, `upload_expired`
 */
export async function findUpload(ctx: Context, caller: Caller, id: string): Promise<Upload> {
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
