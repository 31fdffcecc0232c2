import { randomUUID } from 'node:crypto'
import { type Context, onePer } from '../../kb/context.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { candidatesOf } from '../../kb/projection/version-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import type { IndexChanges } from '../kb-index.ts'
import { SearchPool } from '../search-pool.ts'
import { type KbSearch, kbSearch, type SearchLayer } from './kb-search.ts'
import { neuronDocument } from './neuron-document.ts'

/** Returns the search of a knowledge base for readers. A preview has an index of its changed pages alone, over that of main. */
export function searchOf(
  kb: ReadableKb,
  ctx: Context,
): Pick<KbSearch, 'follow' | 'search' | 'retrieve' | 'near' | 'currentState'> {
  return kb.laidOver === undefined ? kbSearch(kb, ctx) : laidOverSearch(kb, ctx)
}

const laidOverSearch = onePer((kb: ReadableKb, ctx: Context) => {
  const search = kbSearch(kb.laidOver?.on ?? kb, ctx)
  const pool = ctx.threads.of(SearchPool)
  const layer = randomUUID()
  let changes: Promise<IndexChanges> | undefined
  const over: SearchLayer = {
    kb,
    async lay(address, stamp) {
      if (await pool.ask(address, 'layOver', { stamp, layer })) return layer
      changes ??= changedPages(kb, ctx)
      await pool.ask(address, 'layOver', { stamp, layer, changes: await changes })
      return layer
    },
  }
  return {
    follow: () => search.follow(),
    search: (asked) => search.search(asked, over),
    retrieve: (asked) => search.retrieve(asked, over),
    near: (asked) => search.near(asked, over),
    // Answers are not cached: a preview is short-lived.
    currentState: undefined,
  } satisfies ReturnType<typeof searchOf>
})

async function changedPages(
  { laidOver, projection, repository }: ReadableKb,
  { parser }: Context,
): Promise<IndexChanges> {
  const remove: string[] = []
  const put = (laidOver?.changed ?? []).map(async (seqId) => {
    const neuron = findNeuron(projection.read, seqId)
    if (neuron === undefined) {
      remove.push(seqId)
      return []
    }
    const text = await repository.readTextOnce(neuron.blob)
    const candidates = () => candidatesOf(projection.read, seqId)
    return [await neuronDocument(neuron, { text, candidates }, parser)]
  })
  return { put: (await Promise.all(put)).flat(), remove }
}
