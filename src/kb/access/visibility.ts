import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { type Access, effectiveAudience, maySee } from '../../rules/access/audience.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import { type Source, tagsOf } from '../../state/sources/source.ts'
import { accessOf } from '../projection/neuron-queries.ts'
import type { MainTables } from '../projection/projection.ts'
import { lastBlob } from '../projection/version-queries.ts'
import type { ReadableKb } from '../readable-kb.ts'
import { accessIn } from './neuron-access.ts'

/** What of one knowledge base a caller may see, or know that it exists. */
export type Visibility = {
  of: (neuron: Access) => boolean
  /** Of the Neuron that the tables hold; asked of them once. */
  ofSeqId: (seqId: string) => boolean
  /** Of all versions of a Neuron: its audience of today decides, or that of the last version of a deleted one. */
  ofHistory: (seqId: string) => Promise<boolean>
  /** A Source is seen like a Neuron that lists no audience. A key also sees the Sources that it uploaded. */
  ofSource: (source: Pick<Source, 'tags' | 'uploader'>) => boolean
}

export async function visibilityFor(
  caller: Pick<Caller, 'role' | 'id' | 'name'>,
  kb: ReadableKb,
  sql: MainTables = kb.projection.read,
): Promise<Visibility> {
  const audience = effectiveAudience(caller.role)
  const { defaultAudience } = await kb.settings()
  const of: Visibility['of'] = (neuron) => maySee(audience, neuron, defaultAudience)
  const known = new Map<string, boolean>()
  const ofSeqId = (seqId: string) => {
    let isVisible = known.get(seqId)
    if (isVisible === undefined) {
      const neuron = accessOf(sql, seqId)
      isVisible = neuron !== undefined && of(neuron)
      known.set(seqId, isVisible)
    }
    return isVisible
  }
  const ofHistory = async (seqId: string) => {
    const access = accessOf(sql, seqId) ?? (await lastAccess(kb, sql, seqId))
    return access !== undefined && of(access)
  }
  const { id: uploader } = actorOf(caller)
  const ofSource: Visibility['ofSource'] = (source) => source.uploader.id === uploader || of({ tags: tagsOf(source) })
  return { of, ofSeqId, ofHistory, ofSource }
}

/** What the last version of a deleted Neuron says of who may see it. */
async function lastAccess(kb: ReadableKb, sql: MainTables, seqId: string): Promise<Access | undefined> {
  const blob = lastBlob(sql, seqId)
  if (blob === undefined) return undefined
  return accessIn(parseNeuronFile(await kb.repository.readTextOnce(blob)), await kb.settings())
}
