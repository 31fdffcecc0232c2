import type { Source } from '../../store/sources/source.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { visibilityFor } from '../read/visibility.ts'

/** Which Sources somebody may know of. */
export type SourceSight = (source: Pick<Source, 'tags' | 'uploader'>) => boolean

/**
 * Which Sources of a knowledge base a caller may know of. For a curator, who knows of all, its repository is not opened.
 * @throws {GanglionError} `not_found`, `unavailable`
 */
export async function sourceSight(ganglion: Ganglion, caller: Caller, kbId: string): Promise<SourceSight> {
  if (caller.role === 'curator') return () => true
  const { ofSource } = await visibilityFor(caller, await ganglion.kb(caller.tenantId, kbId))
  return ofSource
}
