import { GanglionError } from '../../contract/errors.ts'
import type { Ranking } from '../../contract/search.ts'
import { KbView } from '../../kb/access/kb-view.ts'
import { type Context, onePer } from '../../kb/context.ts'
import { isUnstorable } from '../../kb/failure.ts'
import { neuronsInOrder } from '../../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import type { EmbeddingModel } from '../../models/embedding-model.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { withTimeout } from '../../system/concurrency/with-timeout.ts'
import type { IndexAddress, IndexRequests } from '../index-host.ts'
import { isPlain } from '../query/query-items.ts'
import { type PageHit, type PageHits, type Scope, StaleIndex, type View } from '../search-index.ts'
import { SearchPool } from '../search-pool.ts'
import { type FollowerOptions, IndexFollower, unlessStale } from './index-follower.ts'
import { KbEmbedder } from './kb-embedder.ts'
import { type ScannedPage, scanPages, withScanned, withScannedPassages } from './plain-scan.ts'
import { QuestionVectors } from './question-vectors.ts'
import { searchedSources } from './source-feed.ts'

/** Milliseconds that a query waits for its answer. */
const patience = 10_000
/** Pages that an index lacks of which is looked who may see them. */
const maxLacking = 1_000
/** Milliseconds after which queries no longer wait for an update of the index, and are answered from it as it is. */
const updatePatience = 8_000
/** The same where the index lacks more pages than come in some batches, as while some are imported or it is built. */
const [buildPatience, manyPages] = [1_000, 100]

type Asked<Method extends 'search' | 'retrieve'> = Omit<IndexRequests[Method]['argument'], 'stamp' | 'vector' | 'layer'>

/** Pages over those of the index, in its thread. */
export type SearchLayer = {
  /** The knowledge base that has them. */
  kb: ReadableKb
  /** Lays them over the index that has this stamp. @returns their name */
  lay(address: IndexAddress, stamp: string): Promise<string>
}

/** `pages`: number of the next 1,000 pages to be indexed that the caller may see. Absent if the index is up to date. */
export type PartialAnswer = { behind?: { pages: number } }

/** Pages that the index lacks, by key. `areScanned`: they are searched as plain text. */
type LackingPages = { kb: ReadableKb; keys: readonly string[]; areScanned: boolean }

const nothingFound: PageHits = { hits: [], total: 0, matched: 'all' }

export type KbSearchOptions = FollowerOptions & {
  updatePatience?: number
  /** Without it, search knows words only. */
  embedding?: { model: EmbeddingModel; now: () => Date } | undefined
}

/** Returns the search index of an open knowledge base. For readers, see `searchOf`. */
export const kbSearch = onePer((kb: ReadableKb, ctx: Context) => {
  const { directory, embeddingModel: model, parser, now } = ctx
  const { id } = kb.identity
  return new KbSearch(kb, {
    pool: ctx.threads.of(SearchPool),
    parser,
    directory: directory.index(id),
    sources: searchedSources(kb.identity, ctx),
    vectors: model && { file: directory.vectors(id), model: model.name },
    embedding: model && { model, now },
  })
})

/** The search index of an open knowledge base, which follows its projection. */
export class KbSearch {
  readonly #kb: ReadableKb
  readonly #pool: SearchPool
  readonly #directory: string
  readonly #index: IndexFollower
  readonly #updatePatience: number
  /** Undefined where search knows words only. */
  readonly embedder: KbEmbedder | undefined
  readonly #questions: QuestionVectors | undefined
  #isClosed = false

  constructor(kb: ReadableKb, options: KbSearchOptions) {
    this.#kb = kb
    this.#pool = options.pool
    this.#directory = options.directory
    this.#index = new IndexFollower(kb, options)
    this.#updatePatience = options.updatePatience ?? updatePatience
    const { pool, embedding } = options
    if (embedding === undefined) return
    const address = () => this.#index.address()
    this.embedder = new KbEmbedder({ ...embedding, pool, address })
    this.#questions = new QuestionVectors(embedding.model)
  }

  /** See {@link IndexFollower.follow}. Begins to embed what it brought. */
  async follow(): Promise<void> {
    await this.#index.follow()
    this.#embed()
  }

  /** See {@link IndexFollower.currentState}. */
  get currentState(): string | undefined {
    return this.#index.currentState
  }

  /**
   * How the index stands, for who watches the server. `behind`: an update is under way, or has failed; `idle`: nobody has asked
   * since something changed. `behindMs`: for how long the update takes that is under way.
   */
  get figures(): { state: 'current' | 'behind' | 'idle'; lacking: number; behindMs: number } {
    const { currentState, updatingSince } = this.#index
    const lacking = this.#index.lacking(Number.POSITIVE_INFINITY).length
    const behindMs = updatingSince === undefined ? 0 : performance.now() - updatingSince
    const isBehind = updatingSince !== undefined || lacking > 0
    return { state: currentState !== undefined ? 'current' : isBehind ? 'behind' : 'idle', lacking, behindMs }
  }

  /**
   * Asks the index: up to date, or where an update has been under way for 8 seconds, or for one if it brings many pages, as it is. Then new
   * pages can be missing and changed ones be found as they were, but nothing is shown that the caller may not see now.
   * @throws {GanglionError} `unavailable` where it cannot answer in time, or the knowledge base is being closed.
   * @throws what `SearchPool.ask` throws.
   */
  search(asked: Asked<'search'>, over?: SearchLayer): Promise<PageHits & PartialAnswer> {
    return this.#ask(async (address, stamp, isCurrent) => {
      const layer = address && (await over?.lay(address, stamp))
      const found = address ? await this.#pool.ask(address, 'search', { ...asked, stamp, layer }) : nothingFound
      if (isCurrent) return found
      const hits = this.#stillSeen(found.hits, asked.scope, over)
      // A suggestion is made of pages that may be hidden by now.
      const total = found.total - (found.hits.length - hits.length)
      const seen = { hits, total, matched: found.matched }
      const lacking = this.#lacking(address, asked.scope, over)
      const scanned = isPlain(asked.q) ? await this.#scan(lacking, asked.q, asked.scope, hits) : []
      const { language } = await this.#kb.settings()
      const all = scanned.length === 0 ? seen : withScanned(seen, scanned, { ...asked.scope, language })
      return { ...all, ...behind(lacking, asked.scope) }
    })
  }

  /** As {@link search}; by meaning, too, where a model of embeddings gives the question's vector in time, unless only words are wished. */
  retrieve(
    { by, ...asked }: Asked<'retrieve'> & { by?: 'words' | undefined },
    over?: SearchLayer,
  ): Promise<{ hits: IndexRequests['retrieve']['result']; ranking?: Ranking } & PartialAnswer> {
    const asking = by === 'words' ? undefined : this.#vectorOf(asked.question)
    return this.#ask(async (address, stamp, isCurrent) => {
      const vector = await asking
      const layer = address && (await over?.lay(address, stamp))
      const hits = address ? await this.#pool.ask(address, 'retrieve', { ...asked, stamp, vector, layer }) : []
      const ranking = this.#ranking(
        vector,
        hits.some(({ byMeaning }) => byMeaning),
      )
      if (isCurrent) return { hits, ...ranking }
      const seen = this.#stillSeen(hits, asked.scope, over)
      const lacking = this.#lacking(address, asked.scope, over)
      const isScanned = (asked.filters ?? []).length === 0
      const scanned = isScanned ? await this.#scan(lacking, asked.question, asked.scope, hits) : []
      const all = withScannedPassages(seen, scanned, { limit: asked.scope.limit, packing: asked.packing })
      return { hits: all, ...ranking, ...behind(lacking, asked.scope) }
    })
  }

  /**
   * Returns the pages that the index lacks, the next to be indexed first. Without an index, these are the newest pages, those of a preview included.
   * Pages are scanned as text if the index lacks most of them: it would find next to nothing.
   */
  #lacking(address: IndexAddress | undefined, scope: View, over: SearchLayer | undefined): LackingPages {
    if (address === undefined) {
      const kb = over?.kb ?? this.#kb
      const newest = new KbView(kb, scope).rows((sql) => neuronsInOrder(sql, { sort: '-updatedAt' })).take(maxLacking)
      return { kb, keys: Array.from(newest, ({ seqId }) => seqId), areScanned: true }
    }
    const keys = this.#index.lacking(maxLacking).filter((key) => !isUuid(key))
    return { kb: this.#kb, keys, areScanned: over === undefined && this.#index.lacksMost }
  }

  async #scan(
    { kb, keys, areScanned }: LackingPages,
    question: string,
    scope: Scope,
    found: readonly { key: string }[],
  ): Promise<ScannedPage[]> {
    if (scope.kind === 'source' || !areScanned) return []
    const known = new Set(found.map(({ key }) => key))
    const unknown = keys.filter((key) => !known.has(key))
    return scanPages(kb, unknown, question, scope)
  }

  #ranking(vector: Float32Array | undefined, isByMeaning: boolean): { ranking?: Ranking } {
    if (this.embedder === undefined) return {}
    if (isByMeaning) return { ranking: 'words+meaning' }
    return { ranking: vector === undefined && this.embedder.progress.embedded > 0 ? 'words-model-down' : 'words' }
  }

  /** Without Neurons that the index holds as they were, and that are hidden or gone by now. */
  #stillSeen<Hit extends { key: string }>(
    hits: readonly Hit[],
    scope: View,
    { kb }: Pick<SearchLayer, 'kb'> = { kb: this.#kb },
  ): Hit[] {
    const view = new KbView(kb, scope)
    return hits.filter(({ key }) => isUuid(key) || view.seesNeuron(key))
  }

  /** Lets what is under way come to a quick end. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.embedder?.close()
    await withTimeout(patience, this.#index.close(), () => undefined).catch(() => undefined)
    await withTimeout(patience, this.#pool.release(this.#directory), () => undefined)
  }

  /** Pages that are near a query by meaning; none where no model gives its vector in time. As {@link search} else. */
  async near(
    { q, scope }: Pick<Asked<'search'>, 'q' | 'scope'>,
    over?: SearchLayer,
  ): Promise<{ near: PageHit[]; ranking?: Ranking }> {
    const vector = await this.#vectorOf(q)
    if (vector === undefined) return { near: [], ...this.#ranking(vector, false) }
    return this.#ask(async (address, stamp, isCurrent) => {
      const layer = address && (await over?.lay(address, stamp))
      const hits = address ? await this.#pool.ask(address, 'near', { vector, scope, stamp, layer }) : []
      const near = isCurrent ? hits : this.#stillSeen(hits, scope, over)
      return { near, ...this.#ranking(vector, near.length > 0) }
    })
  }

  /** Undefined where no chunk has a vector: the model would be asked in vain. */
  async #vectorOf(question: string): Promise<Float32Array | undefined> {
    // An index that was closed meanwhile looks at its vectors anew.
    this.#embed()
    return this.embedder?.progress.embedded ? this.#questions?.of(question) : undefined
  }

  #embed(): void {
    if (!this.#isClosed) this.embedder?.run()
  }

  /** Calls `send` without an address if the index can be neither read nor made, as on a full disk: reads go on without it. */
  #ask<Result>(
    send: (address: IndexAddress | undefined, stamp: string, isCurrent: boolean) => Promise<Result>,
  ): Promise<Result> {
    const attempt = async () => {
      let stamp: string | undefined
      try {
        const isCurrent = await this.#update()
        const address = this.#index.usable
        stamp = this.#index.stamp
        if (!this.#isClosed && address !== undefined) return await send(address, stamp, isCurrent)
      } catch (error) {
        // What was followed since is not in question.
        if (error instanceof StaleIndex) this.#index.distrust(stamp)
        if (!this.#isClosed && isUnstorable(error)) return await send(undefined, '', false)
        if (!this.#isClosed) throw error
      }
      throw new GanglionError('unavailable')
    }
    return withTimeout(patience, unlessStale(attempt), refuse)
  }

  /** Whether the index is up to date; false where the update takes too long or cannot be stored. */
  async #update(): Promise<boolean> {
    if (this.#index.currentState !== undefined) return true
    this.#pool.turns.ask(this.#directory)
    const followed = this.#index.follow().then(
      () => true,
      (error) => {
        if (this.#index.usable === undefined || !isUnstorable(error)) throw error
        return false
      },
    )
    followed.catch(() => undefined) // told to whoever waits for it
    await Promise.race([followed, this.#index.begun])
    const isMany = this.#index.lacking(manyPages + 1).length > manyPages
    const age = performance.now() - (this.#index.updatingSince ?? performance.now())
    const longest = isMany ? buildPatience : this.#updatePatience
    return withTimeout(Math.max(0, longest - age), followed, () => false)
  }
}

/** Sources that are not indexed yet do not count: the caller's rights to them are not known here. */
function behind({ kb, keys }: LackingPages, scope: View): PartialAnswer {
  const view = new KbView(kb, scope)
  const pages = keys.filter((key) => view.seesNeuron(key)).length
  return pages === 0 ? {} : { behind: { pages } }
}

function refuse(): never {
  throw new GanglionError('unavailable', 'The search index is busy or being built; try again in a moment.')
}
