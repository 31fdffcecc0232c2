import { LRUCache } from 'lru-cache'
import type { Neuron } from '../contract/neurons.ts'
import { type Context, onePer } from '../kb/context.ts'
import type { ReadableKb } from '../kb/readable-kb.ts'

/** What an answer depends on, beside the commit of main and the audience. */
export type Basis = {
  /** The records of candidates: they say whether a curator has approved what opens a file. */
  queue: boolean
  /** The Sources. */
  database: boolean
}

type Kept = { neuron: Neuron; main: string | undefined; queue: string | undefined; database: string | undefined }

/** Bytes, roughly: of Neurons as objects, and of the texts that HTTP makes of them. */
const maxBytes = 32 * 2 ** 20
const itemBytes = 200

export const neuronAnswers = onePer(({ database }: Context) => new NeuronAnswers(database.revision))

/** Neurons as they were read last, for as long as what they depend on is the same. They must not be changed. */
class NeuronAnswers {
  readonly #kept = new LRUCache<string, Kept>({ maxSize: maxBytes, sizeCalculation: ({ neuron }) => sizeOf(neuron) })
  readonly #databaseRevision: () => string | undefined

  constructor(databaseRevision: () => string | undefined) {
    this.#databaseRevision = databaseRevision
  }

  /**
   * @param key names the Neuron in its knowledge base, and the audience
   * @param read reads it, and says what it depends on; without that it is not kept
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
    // What was read while something changed may be of both states.
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
