import { LRUCache } from 'lru-cache'
import type { KnowledgeBase } from '../knowledge-base/knowledge-base.ts'
import type { Found } from './search.ts'

type Kept = { found: Found; stamp: string; main: string | undefined; database: string | undefined }

/** Bytes, roughly: of answers as objects, and of the texts that HTTP makes of them. */
const maxBytes = 16 * 2 ** 20
const hitBytes = 600
const facetBytes = 60

/**
 * What was found, for as long as it would be found again: until main, the index or, for Sources, the database changes. People come
 * back to a list of hits, turn its pages and ask for the same words.
 */
export class SearchAnswers {
  readonly #kept = new LRUCache<string, Kept>({ maxSize: maxBytes, sizeCalculation: ({ found }) => sizeOf(found) })
  readonly #databaseRevision: () => string | undefined

  /** @param databaseRevision see `Database.revision` */
  constructor(databaseRevision: () => string | undefined) {
    this.#databaseRevision = databaseRevision
  }

  /**
   * @param key names the query and the audience
   * @param find finds the pages in the knowledge base and its index; what it finds may depend on nothing else
   */
  async get(
    kb: KnowledgeBase,
    index: { readonly currentStamp: string | undefined },
    key: string,
    find: () => Promise<Found>,
  ): Promise<Found> {
    const name = `${kb.identity.id} ${key}`
    const known = this.#kept.get(name)
    const stamp = index.currentStamp
    const { main } = kb.heads()
    const database = this.#databaseRevision()
    const isCurrent = known !== undefined && known.stamp === stamp && known.main === main
    if (isCurrent && (known.database === undefined || known.database === database)) return known.found
    const found = await find()
    // What was found while something changed may be of both states.
    if (stamp === undefined || stamp !== index.currentStamp || main !== kb.heads().main) return found
    const hasSource = found.hits.some(({ kind }) => kind === 'source')
    if (hasSource && database === undefined) return found
    this.#kept.set(name, { found, stamp, main, database: hasSource ? database : undefined })
    return found
  }
}

function sizeOf({ hits, facets }: Found): number {
  const ofHits = hits.reduce((sum, { highlight }) => sum + hitBytes + 3 * highlight.length, hitBytes)
  const facetCount = Object.values(facets ?? {}).reduce((sum, { length }) => sum + length, 0)
  return ofHits + facetBytes * facetCount
}
