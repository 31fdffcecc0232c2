import type { UploadStatus } from '../../../contract/documents.ts'
import type { Context } from '../../../kb/context.ts'
import { actorOf, type Caller } from '../../../rules/access/caller.ts'
import { findKb } from '../../find-source.ts'
import { asStored } from './find-upload.ts'
import { statusOf } from './read-upload.ts'

/** The caller's unfinished uploads into a knowledge base. @throws {GanglionError} `not_found` */
export async function listOpenUploads(ctx: Context, caller: Caller, kbName: string): Promise<UploadStatus[]> {
  const { id } = await findKb(ctx, caller, kbName)
  const open = await ctx.uploads.openOf(id, actorOf(caller).id, ctx.now())
  return Promise.all(open.map(async (upload) => statusOf(await asStored(ctx, upload))))
}
