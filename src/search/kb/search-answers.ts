import { LRUCache } from 'lru-cache'
import type { Ranking, SearchHit } from '../../contract/search.ts'
import { type Context, onePer } from '../../kb/context.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import type { PageHits } from '../search-index.ts'
import type { PartialAnswer } from './kb-search.ts'

/** Result of a search: hits, their total, and how the query was read. */
export type SearchFound = Omit<PageHits, 'hits'> & PartialAnswer & { hits: SearchHit[]; ranking?: Ranking }

type Kept = { found: SearchFound; state: string; database: string | undefined }

/** Approximate bytes of cached answers, as objects and as response texts. */
const maxBytes = 16 * 2 ** 20
const hitBytes = 600
const facetBytes = 60

export const searchAnswers = onePer(({ database }: Context) => new SearchAnswers(database.revision))

/** Caches answers until main, the index or, for Sources, the database changes: people return to a list of hits, turn its pages and repeat queries. */
class SearchAnswers {
  readonly #kept = new LRUCache<string, Kept>({ maxSize: maxBytes, sizeCalculation: ({ found }) => sizeOf(found) })
  readonly #databaseRevision: () => string | undefined

  constructor(databaseRevision: () => string | undefined) {
    this.#databaseRevision = databaseRevision
  }

  /**
   * Returns a cached answer, or finds it.
   * @param index its `currentState` changes with main and the index
   * @param key identifies the query and the audience
   * @param find runs the search, whose result may depend on nothing else
   */
  async get(
    { identity }: Pick<ReadableKb, 'identity'>,
    index: { readonly currentState: string | undefined },
    key: string,
    find: () => Promise<SearchFound>,
  ): Promise<SearchFound> {
    const name = `${identity.id} ${key}`
    const known = this.#kept.get(name)
    const state = index.currentState
    const database = this.#databaseRevision()
    const isCurrent = known !== undefined && known.state === state
    if (isCurrent && (known.database === undefined || known.database === database)) return known.found
    const found = await find()
    // A result found during a change may mix both states.
    if (state === undefined || state !== index.currentState) return found
    const hasSource = found.hits.some(({ kind }) => kind === 'source')
    if (hasSource && database === undefined) return found
    this.#kept.set(name, { found, state, database: hasSource ? database : undefined })
    return found
  }
}

function sizeOf({ hits, facets }: SearchFound): number {
  const ofHits = hits.reduce((sum, { highlight }) => sum + hitBytes + 3 * highlight.length, hitBytes)
  const facetCount = Object.values(facets ?? {}).reduce((sum, { length }) => sum + length, 0)
  return ofHits + facetBytes * facetCount
}
