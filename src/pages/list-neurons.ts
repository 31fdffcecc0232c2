import { decodeCursor, encodeCursor } from '../contract/cursor.ts'
import type { NeuronListQuery, NeuronPage } from '../contract/neurons.ts'
import { SeqId } from '../contract/vocabulary.ts'
import { openView } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import { neuronsAfter } from '../kb/projection/neuron-queries.ts'
import type { Caller } from '../rules/access/caller.ts'
import { tagKey } from '../rules/neurons/tag.ts'

/**
 * A page of the Neurons that the caller may see, by seqId.
 * @throws {GanglionError} `not_found` @throws {ValidationError} for a cursor that no page gave.
 */
export async function listNeurons(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { tag, cursor, limit }: NeuronListQuery,
): Promise<NeuronPage> {
  const after = cursor === undefined ? '' : decodeCursor(cursor, isSeqId)
  const view = await openView(ctx, caller, kbName)
  const page: NeuronPage['neurons'] = []
  for (const { audience: _audience, ...neuron } of view.rows((sql) => neuronsAfter(sql, after, tag && tagKey(tag)))) {
    const last = page.at(-1)
    if (page.length === limit && last !== undefined) return { neurons: page, nextCursor: encodeCursor(last.seqId) }
    page.push(neuron)
  }
  return { neurons: page, nextCursor: null }
}

function isSeqId(place: string): boolean {
  return SeqId.safeParse(place).success
}
