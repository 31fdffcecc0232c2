import { decodeCursor, encodeCursor } from '../contract/envelope.ts'
import type { NeuronListQuery, NeuronPage } from '../contract/neurons.ts'
import { SeqId } from '../contract/vocabulary.ts'
import { openView } from '../kb/access/kb-view.ts'
import { freshnessIn } from '../kb/access/stale-pages.ts'
import type { Context } from '../kb/context.ts'
import { type NeuronPlace, type NeuronSummaryRow, neuronsInOrder } from '../kb/projection/neuron-queries.ts'
import type { Caller } from '../rules/access/caller.ts'
import { goesByOneOf } from '../rules/deciding.ts'
import { ownersOfPage } from '../rules/freshness.ts'
import { tagKey } from '../rules/neurons/tag.ts'
import { pauses } from '../system/pauses.ts'

/**
 * Returns a page of the Neurons visible to the caller, in the requested order.
 * @throws {GanglionError} `not_found`
 * @throws {ValidationError} for an unknown cursor
 */
export async function listNeurons(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { tag, updatedSince, stale, owner, sort = 'seqId', cursor, limit }: NeuronListQuery,
): Promise<NeuronPage> {
  const placeOf = (place: NeuronPlace) => (sort === 'seqId' ? place.seqId : `${place.updatedAt} ${place.seqId}`)
  const isPlace = (place: string) =>
    isSeqId(place.slice(place.indexOf(' ') + 1)) && place.includes(' ') === (sort !== 'seqId')
  const [seqId = '', updatedAt = ''] = cursor === undefined ? [] : decodeCursor(cursor, isPlace).split(' ').reverse()
  const listing = {
    tag: tag && tagKey(tag),
    since: updatedSince && new Date(updatedSince).toISOString(),
    sort,
    after: cursor === undefined ? undefined : { seqId, updatedAt },
  }
  const view = await openView(ctx, caller, kbName)
  const page: NeuronPage['neurons'] = []
  const { deciding } = await view.kb.settings()
  const freshnessOf = await freshnessIn({ ctx, view })
  // Only curators may know the owners in kb.yaml.
  const rules = view.audience === 'curator' ? (deciding?.owners ?? []) : []
  const isWanted = (row: NeuronSummaryRow) =>
    owner === undefined || goesByOneOf({ names: [owner] }, ownersOfPage(row, rules))
  const pause = pauses()
  for (const row of view.rows((sql) => neuronsInOrder(sql, listing))) {
    await pause()
    if (!isWanted(row)) continue
    const freshness = await freshnessOf(row)
    if (stale === true && freshness.stale !== true) continue
    const { audience: _audience, verified: _verified, owner: _owner, ...neuron } = row
    const last = page.at(-1)
    if (page.length === limit && last !== undefined) return { neurons: page, nextCursor: encodeCursor(placeOf(last)) }
    page.push({ ...neuron, ...freshness })
  }
  return { neurons: page, nextCursor: null }
}

function isSeqId(place: string): boolean {
  return SeqId.safeParse(place).success
}
