import type { Context } from '../../../context.ts'
import { linkKey } from '../../../knowledge/links/link-target.ts'
import { type FoundName, namesThatBegin, namesWithWord } from '../../../store/projection/name-queries.ts'
import { findNeuron } from '../../../store/projection/neuron-queries.ts'
import type { Caller } from '../../caller.ts'
import { visibilityFor } from '../visibility.ts'

export type { FoundName }

/**
 * Finds the Neurons that the caller may see by the start of a title or alias, then by the start of a word in one, each once, by
 * the name that was found. A seqId finds its Neuron.
 * @throws {GanglionError} `not_found`
 */
export async function findNames(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { q, limit }: { q: string; limit: number },
): Promise<FoundName[]> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const { ofSeqId } = await visibilityFor(caller, kb)
  const { read: sql } = kb.projection
  const key = linkKey(q)
  const found = new Map<string, FoundName>()
  const named = findNeuron(sql, q.trim())
  const ways = [
    named === undefined ? [] : [{ seqId: named.seqId, title: named.title, name: named.title }],
    namesThatBegin(sql, key),
    key === '' ? [] : namesWithWord(sql, key),
  ]
  for (const names of ways) {
    for (const name of names) {
      if (found.size === limit) return [...found.values()]
      if (!found.has(name.seqId) && ofSeqId(name.seqId)) found.set(name.seqId, name)
    }
  }
  return [...found.values()]
}
