import { GanglionError } from '../../../contract/errors.ts'
import type { Context } from '../../../kb/context.ts'
import { actorOf, type Caller } from '../../../rules/access/caller.ts'
import type { Upload } from '../../../state/sources/uploads.ts'

/**
 * An upload, with the number of bytes that have arrived. It is there for who began it and for curators: its file and tags may be none
 * of others' business, and who finalizes it sees the Source.
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

export async function asStored({ uploadBytes }: Context, upload: Upload): Promise<Upload> {
  return upload.isFinalized ? upload : { ...upload, bytesReceived: await uploadBytes.size(upload) }
}
