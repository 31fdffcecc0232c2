import { effectiveAudience, maySee } from '../../knowledge/audience.ts'
import { accessOf } from '../../store/neuron-queries.ts'
import type { Projection } from '../../store/projection.ts'
import type { Caller } from '../caller.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'

/** Whether a caller may see a Neuron of one knowledge base, or know that it exists. */
export type Visibility = {
  of: (neuron: { audience?: string[] | undefined; tags: readonly string[] }) => boolean
  /** Of the Neuron that the tables hold; asked of them once. */
  ofSeqId: (seqId: string) => boolean
}

export async function visibilityFor(
  { role }: Caller,
  kb: KnowledgeBase,
  sql: Projection['read'] = kb.projection.read,
): Promise<Visibility> {
  const audience = effectiveAudience(role)
  const { defaultAudience } = await kb.settings()
  const of: Visibility['of'] = ({ audience: listed, tags }) =>
    maySee(audience, { tags, ...(listed === undefined ? {} : { audience: listed }) }, defaultAudience)
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
  return { of, ofSeqId }
}
