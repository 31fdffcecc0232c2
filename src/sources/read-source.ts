import { SourceAnswer, SourceDetail } from '../contract/documents.ts'
import { type FileContent, savedFileType } from '../contract/files.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Source as StoredSource } from '../state/sources/source.ts'
import { findSource } from './find-source.ts'

/** Returns a Source that is visible to the caller. @throws {GanglionError} `not_found` */
export async function readSource(ctx: Context, caller: Caller, docId: string): Promise<SourceDetail> {
  return toSourceDetail(await findSource(ctx, caller, docId))
}

/**
 * Returns the uploaded bytes of a Source. Browsers must save them, never show them. @throws {GanglionError} `not_found`
 */
export async function sourceContent(ctx: Context, caller: Caller, docId: string): Promise<FileContent> {
  const { filename, contentHash, fileSize: size } = await findSource(ctx, caller, docId)
  const read: FileContent['read'] = (range) => ctx.blobs.get(contentHash, range)
  return { filename, size, etag: contentHash, type: savedFileType, read }
}

/** Returns a Source in the form of the API. */
export function toSourceAnswer(source: StoredSource): SourceAnswer {
  return SourceAnswer.parse(view(source))
}

/** Returns a Source in the form of the API for curators. */
function toSourceDetail(source: StoredSource): SourceDetail {
  return SourceDetail.parse(view(source))
}

function view({ kbId, warnings, ...source }: StoredSource) {
  return { ...source, ...(warnings.length === 0 ? {} : { warnings }), knowledgeBaseId: kbId, kind: 'source' }
}
