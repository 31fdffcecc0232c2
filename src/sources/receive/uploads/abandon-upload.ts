import type { Context } from '../../../kb/context.ts'
import type { Caller } from '../../../rules/access/caller.ts'
import { findUpload } from './find-upload.ts'

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
