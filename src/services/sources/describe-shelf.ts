import type { Source } from '../../contract/documents.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'

/** What a knowledge base takes, and where its Sources stand. */
export type Shelf = {
  /** Extensions without dot, sorted. */
  fileTypes: Source['fileType'][]
  /** Folders with a Source, as curators are told of them. */
  folders: string[]
}

/** @throws {GanglionError} `not_found` */
export async function describeShelf(ganglion: Ganglion, { tenantId, role }: Caller, kbName: string): Promise<Shelf> {
  const kb = await ganglion.kb(tenantId, kbName)
  const { sourceTypes } = await kb.settings()
  // A folder's name may be all that is known of what stands in it.
  const folders = role === 'curator' ? await ganglion.sources.folders(kb.identity.id) : []
  return { fileTypes: [...sourceTypes].toSorted(), folders }
}
