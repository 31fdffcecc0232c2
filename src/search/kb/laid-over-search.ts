import { randomUUID } from 'node:crypto'
import { type Context, onePer } from '../../kb/context.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { candidatesOf } from '../../kb/projection/version-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import type { IndexAddress } from '../index-host.ts'
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
  const layer = new ChangedPages(kb, ctx)
  return {
    follow: () => search.follow(),
    search: (asked) => search.search(asked, layer),
    retrieve: (asked) => search.retrieve(asked, layer),
    near: (asked) => search.near(asked, layer),
    // Answers are not cached: a preview is short-lived.
    currentState: undefined,
  } satisfies ReturnType<typeof searchOf>
})

class ChangedPages implements SearchLayer {
  readonly kb: ReadableKb
  readonly #name = randomUUID()
  readonly #pool: SearchPool
  readonly #parser: Context['parser']
  #changes: Promise<IndexChanges> | undefined

  constructor(kb: ReadableKb, { threads, parser }: Context) {
    this.kb = kb
    this.#pool = threads.of(SearchPool)
    this.#parser = parser
  }

  async lay(address: IndexAddress, stamp: string): Promise<string> {
    const layer = this.#name
    if (await this.#pool.ask(address, 'layOver', { stamp, layer })) return layer
    this.#changes ??= this.#read()
    await this.#pool.ask(address, 'layOver', { stamp, layer, changes: await this.#changes })
    return layer
  }

  async #read(): Promise<IndexChanges> {
    const { laidOver, projection, repository } = this.kb
    const remove: string[] = []
    const put = (laidOver?.changed ?? []).map(async (seqId) => {
      const neuron = findNeuron(projection.read, seqId)
      if (neuron === undefined) {
        remove.push(seqId)
        return []
      }
      const text = await repository.readTextOnce(neuron.blob)
      const candidates = () => candidatesOf(projection.read, seqId)
      return [await neuronDocument(neuron, { text, candidates }, this.#parser)]
    })
    return { put: (await Promise.all(put)).flat(), remove }
  }
}
