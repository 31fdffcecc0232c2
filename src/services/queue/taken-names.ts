import type { Warning } from '../../contract/candidates.ts'
import { wasBefore } from '../../knowledge/links/link-target.ts'
import { oneLine } from '../../knowledge/text/text.ts'
import { namesByKey, namesOfNeuron } from '../../store/projection/link-queries.ts'
import type { MainTables } from '../../store/projection/projection.ts'

/**
 * Warns of the names of a Neuron that links do not lead to it by, since others had them first.
 * @param isVisible whether the sender sees a Neuron: no other is told of
 */
export function takenNames(sql: MainTables, seqId: string, isVisible: (seqId: string) => boolean): Warning[] {
  const taken = new Map<string, string>()
  for (const { key, exact, kind, claim } of namesOfNeuron(sql, seqId)) {
    if (!claim.yields || kind === 'seqId' || kind === 'path') continue
    const holder = namesByKey(sql, key).find(
      (other) => other.seqId !== seqId && wasBefore(other, { seqId, claim }) && isVisible(other.seqId),
    )
    if (holder !== undefined) taken.set(holder.seqId, exact)
  }
  return [...taken].map(([other, name]) => ({
    code: 'name_taken',
    message: `Links by the name "${oneLine(name, 200)}" lead to ${other}, which had it first, and not to ${seqId}.`,
    seqId: other,
  }))
}
