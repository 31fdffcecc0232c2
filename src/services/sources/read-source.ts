import type { Context } from '../../context.ts'
import type { SourceDetail } from '../../contract/documents.ts'
import { GanglionError } from '../../contract/errors.ts'
import { savedFileType } from '../../contract/files.ts'
import type { Caller } from '../caller.ts'
import type { FileContent } from '../read/file-content.ts'
import { findSource } from './find-source.ts'
import { sourceSight } from './source-sight.ts'
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
