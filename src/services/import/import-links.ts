import { fileKeys, linkKey, resolveTarget } from '../../knowledge/link-target.ts'
import { linksOf, namesByKey } from '../../store/link-queries.ts'
import { findNeuron } from '../../store/neuron-queries.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import type { PlannedFile } from './import-plan.ts'

export type UnresolvedLink = { path: string; target: string; reason: 'missing' | 'ambiguous' }

/** Links of these Neurons that lead to no Neuron, or to several, and to no file that came along. */
export function unresolvedLinks(
  kb: KnowledgeBase,
  seqIds: readonly string[],
  attachments: readonly PlannedFile[],
): UnresolvedLink[] {
  const { read: sql } = kb.projection
  const files = new Set(attachments.flatMap(({ origin }) => fileKeys(origin)))
  const reasons = new Map<string, UnresolvedLink['reason'] | undefined>()
  const reasonOf = (target: string) => {
    if (!reasons.has(target)) {
      const found = resolveTarget(target, (key) => namesByKey(sql, key))
      const isThere = 'seqId' in found || files.has(linkKey(target))
      reasons.set(target, isThere ? undefined : 'missing' in found ? 'missing' : 'ambiguous')
    }
    return reasons.get(target)
  }
  return seqIds.flatMap((seqId) => {
    const path = findNeuron(sql, seqId)?.path ?? seqId
    return linksOf(sql, seqId).flatMap(({ kb: otherKb, target }): UnresolvedLink[] => {
      const isForeign = otherKb !== null && otherKb !== kb.identity.slug
      const reason = isForeign ? undefined : reasonOf(target)
      return reason === undefined ? [] : [{ path, target, reason }]
    })
  })
}
