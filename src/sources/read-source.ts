import type { SourceDetail } from '../contract/documents.ts'
import { GanglionError } from '../contract/errors.ts'
import type { FileContent } from '../contract/file-content.ts'
import { savedFileType } from '../contract/files.ts'
import { sourceSight } from '../kb/access/source-sight.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import { findSource } from './find-source.ts'
import { toSourceDetail } from './source-view.ts'

/** A Source that is visible to the caller. @throws {GanglionError} `not_found` */
export async function readSource(ctx: Context, caller: Caller, docId: string): Promise<SourceDetail> {
  const source = await findSource(ctx, caller, docId)
  const isSeen = await sourceSight(ctx, caller, source.kbId)
  if (!isSeen(source)) throw new GanglionError('not_found')
  return toSourceDetail(source)
}

/**
 * The bytes of a Source as they were uploaded. Browsers must save them, never show them.
 * @throws {GanglionError} `not_found`
 */
export async function sourceContent(ctx: Context, caller: Caller, docId: string): Promise<FileContent> {
  const { filename, contentHash, fileSize: size } = await findSource(ctx, caller, docId)
  const read: FileContent['read'] = (range) => ctx.blobs.get(contentHash, range)
  return { filename, size, etag: contentHash, type: savedFileType, read }
}
