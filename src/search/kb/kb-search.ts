import { GanglionError } from '../../contract/errors.ts'
import type { Ranking } from '../../contract/search.ts'
import { KbView } from '../../kb/access/kb-view.ts'
import { type Context, onePer } from '../../kb/context.ts'
import { isUnstorable } from '../../kb/failure.ts'
import { neuronsInOrder } from '../../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import type { EmbeddingModel } from '../../models/embeddings.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { withTimeout } from '../../system/concurrency/with-timeout.ts'
import type { IndexAddress, IndexRequests } from '../index-host.ts'
import { isPlain } from '../query/filters.ts'
import { type PageHit, type PageHits, type Scope, StaleIndex, type View } from '../search-index.ts'
import { SearchPool } from '../search-pool.ts'
import { type FollowerOptions, IndexFollower, unlessStale } from './index-follower.ts'
import { KbEmbedder } from './kb-embedder.ts'
import { type ScannedPage, scanPages, withScanned, withScannedPassages } from './plain-scan.ts'
import { searchedSources } from './source-feed.ts'

/** Milliseconds that a query waits for its answer. */
const patience = 10_000
/** Maximum number of unindexed pages whose visibility is checked for one query. */
const maxLacking = 1_000
/** Milliseconds after which queries no longer wait for an update, and use the index as it is. */
const updatePatience = 8_000
/** Milliseconds to wait for an update of more than {@link manyPages} pages, such as an import or a rebuild. */
const [buildPatience, manyPages] = [1_000, 100]

type Asked<Method extends 'search' | 'retrieve'> = Omit<IndexRequests[Method]['argument'], 'stamp' | 'vector' | 'layer'>

/** Layer of pages over the index, in the search thread. */
export type SearchLayer = {
  /** Knowledge base with these pages. */
  kb: ReadableKb
  /** Adds the layer to the index with this stamp. @returns its name */
  lay(address: IndexAddress, stamp: string): Promise<string>
}

/** State of an answer from an incomplete index. `pages`: number of visible pages among the next 1,000 to be indexed. */
export type PartialAnswer = { behind?: { pages: number } }

/** Keys of pages that the index lacks. `areScanned`: search them as plain text. */
type LackingPages = { kb: ReadableKb; keys: readonly string[]; areScanned: boolean }

const nothingFound: PageHits = { hits: [], total: 0, matched: 'all' }

export type KbSearchOptions = FollowerOptions & {
  updatePatience?: number
  /** Embeddings model. Absent if search uses words alone. */
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

/** The search index of an open knowledge base, kept up to date with its projection. */
export class KbSearch {
  readonly #kb: ReadableKb
  readonly #pool: SearchPool
  readonly #directory: string
  readonly #index: IndexFollower
  readonly #updatePatience: number
  /** Embedder of the chunks. Undefined if search uses words alone. */
  readonly embedder: KbEmbedder | undefined
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
  }

  /** Updates the index, see {@link IndexFollower.follow}, then starts embedding. */
  async follow(): Promise<void> {
    await this.#index.follow()
    this.#embed()
  }

  /** State of the index; see {@link IndexFollower.currentState}. */
  get currentState(): string | undefined {
    return this.#index.currentState
  }

  /**
   * State of the index for monitoring. `behind`: an update is in progress or has failed; `idle`: there was a change, but no query
   * since. `behindMs`: duration of the current update.
   */
  get figures(): { state: 'current' | 'behind' | 'idle'; lacking: number; behindMs: number } {
    const { currentState, updatingSince } = this.#index
    const lacking = this.#index.lacking(Number.POSITIVE_INFINITY).length
    const behindMs = updatingSince === undefined ? 0 : performance.now() - updatingSince
    const isBehind = updatingSince !== undefined || lacking > 0
    return { state: currentState !== undefined ? 'current' : isBehind ? 'behind' : 'idle', lacking, behindMs }
  }

  /**
   * Searches the index, after updating it. Once an update has taken 8 seconds, or one if it brings many pages, uses the index as
   * it is. Then new pages can be missing and changed ones be found by their old text, but no page is shown that the caller may
   * not see now.
   * @throws {GanglionError} `unavailable` if it cannot answer in time, or the knowledge base is closing.
   * @throws as `SearchPool.ask`
   */
  search(asked: Asked<'search'>, over?: SearchLayer): Promise<PageHits & PartialAnswer> {
    return this.#ask(async (address, stamp, isCurrent) => {
      const layer = address && (await over?.lay(address, stamp))
      const found = address ? await this.#pool.ask(address, 'search', { ...asked, stamp, layer }) : nothingFound
      if (isCurrent) return found
      const hits = this.#stillSeen(found.hits, asked.scope, over)
      // A suggestion is dropped: it comes from pages that may be hidden by now.
      const total = found.total - (found.hits.length - hits.length)
      const seen = { hits, total, matched: found.matched }
      const lacking = this.#lacking(address, asked.scope, over)
      const scanned = isPlain(asked.q) ? await this.#scan(lacking, asked.q, asked.scope, hits) : []
      const { language } = await this.#kb.settings()
      const all = scanned.length === 0 ? seen : withScanned(seen, scanned, { ...asked.scope, language })
      return { ...all, ...behind(lacking, asked.scope) }
    })
  }

  /** Returns passages like {@link search}. Also by meaning if the model returns the question's vector in time, unless `by` is `words`. */
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

  /** Drops Neurons that are hidden or removed by now, although the index still has them. */
  #stillSeen<Hit extends { key: string }>(
    hits: readonly Hit[],
    scope: View,
    { kb }: Pick<SearchLayer, 'kb'> = { kb: this.#kb },
  ): Hit[] {
    const view = new KbView(kb, scope)
    return hits.filter(({ key }) => isUuid(key) || view.seesNeuron(key))
  }

  /** Ends work in progress early. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.embedder?.close()
    await withTimeout(patience, this.#index.close(), () => undefined).catch(() => undefined)
    await withTimeout(patience, this.#pool.release(this.#directory), () => undefined)
  }

  /** Returns pages near a query by meaning; none if no model returns its vector in time. Otherwise like {@link search}. */
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

  async #vectorOf(question: string): Promise<Float32Array | undefined> {
    // An index closed meanwhile must load its vectors again.
    this.#embed()
    return this.embedder?.question(question)
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
        // Has no effect if the index has a newer stamp by now.
        if (error instanceof StaleIndex) this.#index.distrust(stamp)
        if (!this.#isClosed && isUnstorable(error)) return await send(undefined, '', false)
        if (!this.#isClosed) throw error
      }
      throw new GanglionError('unavailable')
    }
    return withTimeout(patience, unlessStale(attempt), refuse)
  }

  /** Updates the index. Returns false if the update takes too long or cannot be stored. */
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
    followed.catch(() => undefined) // Reported to the callers that await it.
    await Promise.race([followed, this.#index.begun])
    const isMany = this.#index.lacking(manyPages + 1).length > manyPages
    const age = performance.now() - (this.#index.updatingSince ?? performance.now())
    const longest = isMany ? buildPatience : this.#updatePatience
    return withTimeout(Math.max(0, longest - age), followed, () => false)
  }
}

/** Counts the unindexed pages that the caller may see. Ignores Sources: the caller's rights to them are not known here. */
function behind({ kb, keys }: LackingPages, scope: View): PartialAnswer {
  const view = new KbView(kb, scope)
  const pages = keys.filter((key) => view.seesNeuron(key)).length
  return pages === 0 ? {} : { behind: { pages } }
}

function refuse(): never {
  throw new GanglionError('unavailable', 'The search index is busy or being built; try again in a moment.')
}

/** Returns the counts of the embeddings model since the start, the chunks of open knowledge bases with a vector, and texts without one. */
export async function embeddingFigures(ctx: Context, model: EmbeddingModel) {
  const figures = { ...model.counts, embedded: 0, lacking: 0 }
  for (const kb of await ctx.kbs.all()) {
    const { embedder } = kbSearch(kb, ctx)
    figures.embedded += embedder?.progress.embedded ?? 0
    figures.lacking += embedder?.progress.lacking ?? 0
  }
  return figures
}
