import { GanglionError } from '../../contract/errors.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { findSource } from './find-source.ts'

/**
 * Archives a Source. Its Neurons stay, its bytes may be uploaded again, and a waiting ingest is cancelled.
 * @throws {GanglionError} `not_found`, `already_processing`
 */
export async function archiveSource(ganglion: Ganglion, caller: Caller, docId: string): Promise<void> {
  const { tenantId, id } = await findSource(ganglion, caller, docId)
  if (!(await ganglion.sources.archive(tenantId, id, ganglion.now()))) throw new GanglionError('already_processing')
  await ganglion.jobs.cancel(id)
}
