import type { SourceAnswer } from '../contract/documents.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'

/** The file types that a knowledge base accepts, and the folders of its Sources. */
export type AcceptedUploads = {
  /** Extensions without dot, sorted. */
  fileTypes: SourceAnswer['fileType'][]
  /** Folders with a Source; only for curators. */
  folders: string[]
}

export async function describeUploads(
  ctx: Context,
  { tenantId, role }: Caller,
  kbName: string,
): Promise<AcceptedUploads> {
  const kb = await ctx.kb(tenantId, kbName)
  const { sourceTypes } = await kb.settings()
  // The name of a folder may reveal what is in it.
  const folders = role === 'curator' ? await ctx.sources.folders(kb.identity.id) : []
  return { fileTypes: [...sourceTypes].toSorted(), folders }
}
