import { LRUCache } from 'lru-cache'
import type { Neuron } from '../contract/neurons.ts'
import { type Context, onePer } from '../kb/context.ts'
import type { ReadableKb } from '../kb/readable-kb.ts'

/** State that an answer depends on, besides the commit of main and the audience. */
export type Basis = {
  /** True if it depends on queue records, which say whether a curator has approved the page that opens a file. */
  queue: boolean
  /** True if the answer depends on Sources, which are in the database. */
  database: boolean
}

type Kept = { neuron: Neuron; main: string | undefined; queue: string | undefined; database: string | undefined }

/** Approximate bytes of the cache: Neurons as objects, and their HTTP bodies. */
const maxBytes = 32 * 2 ** 20
const itemBytes = 200

export const neuronAnswers = onePer(({ database }: Context) => new NeuronAnswers(database.revision))

/** Cache of Neurons as last read, valid until something they depend on changes. Its entries must not be modified. */
class NeuronAnswers {
  readonly #kept = new LRUCache<string, Kept>({ maxSize: maxBytes, sizeCalculation: ({ neuron }) => sizeOf(neuron) })
  readonly #databaseRevision: () => string | undefined

  constructor(databaseRevision: () => string | undefined) {
    this.#databaseRevision = databaseRevision
  }

  /**
   * Returns a cached Neuron, or reads it. @param key identifies it and the audience
   * @param read returns the Neuron and what it depends on; without that it is not cached
   */
  async get(
    kb: ReadableKb,
    key: string,
    read: () => Promise<{ neuron: Neuron; basis: Basis | undefined }>,
  ): Promise<Neuron> {
    const name = `${kb.identity.id} ${key}`
    const known = this.#kept.get(name)
    if (known !== undefined && this.#isCurrent(kb, known)) return known.neuron
    const before = kb.projection.revision()
    const database = this.#databaseRevision()
    const { neuron, basis } = await read()
    // A read during a change may mix both states.
    if (basis === undefined || (basis.database && database === undefined)) return neuron
    if (kb.projection.revision() !== before) return neuron
    const { main, queue } = kb.heads()
    this.#kept.set(name, {
      neuron,
      main,
      queue: basis.queue ? queue : undefined,
      database: basis.database ? database : undefined,
    })
    return neuron
  }

  #isCurrent(kb: ReadableKb, { main, queue, database }: Kept): boolean {
    const heads = kb.heads()
    if (main !== heads.main || (queue !== undefined && queue !== heads.queue)) return false
    return database === undefined || database === this.#databaseRevision()
  }
}

function sizeOf({
  content,
  links,
  backlinks,
  unresolved,
  files = [],
  sources = [],
  tags,
  properties = {},
}: Neuron): number {
  const items = [links, backlinks, unresolved, files, sources, tags].reduce((sum, { length }) => sum + length, 5)
  return 3 * (content.length + JSON.stringify(properties).length) + itemBytes * items
}
