import { openView } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { type FoundName, namesThatBegin, namesWithWord } from '../../kb/projection/name-queries.ts'
import { titleOf } from '../../kb/projection/neuron-queries.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { linkKey } from '../../rules/links/link-target.ts'

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
  const view = await openView(ctx, caller, kbName)
  const key = linkKey(q)
  const found = new Map<string, FoundName>()
  const named = view.about(q.trim(), titleOf)
  const ways = [
    named === undefined ? [] : [{ seqId: q.trim(), title: named, name: named }],
    view.rows((sql) => namesThatBegin(sql, key)),
    key === '' ? [] : view.rows((sql) => namesWithWord(sql, key)),
  ]
  for (const names of ways) {
    for (const name of names) {
      if (found.size === limit) return [...found.values()]
      if (!found.has(name.seqId)) found.set(name.seqId, name)
    }
  }
  return [...found.values()]
}
