import { LRUCache } from 'lru-cache'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { utcDay } from '../../contract/moment.ts'
import type { Ranking, SearchAnswer, SearchHit, SearchQuery, TenantSearchAnswer } from '../../contract/search.ts'
import { type KbView, type ViewedKb, viewAs } from '../../kb/access/kb-view.ts'
import { stalenessIn } from '../../kb/access/stale-pages.ts'
import { type Context, onePer } from '../../kb/context.ts'
import { type NeuronOfHit, neuronsOfHits } from '../../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import { type Audience, effectiveAudience } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'
import { isBusy } from '../../state/database/engines/sqlite.ts'
import { isPlain } from '../query/filters.ts'
import { QueryError } from '../query/query-tree.ts'
import { type PageHit, type PageHits, type Scope, SearchTimeout } from '../search-index.ts'
import { SearchInterrupted } from '../search-pool.ts'
import type { PartialAnswer } from './kb-search.ts'
import { searchOf } from './laid-over-search.ts'
import { questionKey } from './question-log.ts'

/**
 * Searches a knowledge base. Pages hidden from the caller's audience are neither found nor counted.
 * @throws {GanglionError} `not_found`, `unavailable`
 * @throws {ValidationError} for a query beyond the limits
 */
export async function search(ctx: Context, caller: Caller, kbName: string, query: SearchQuery): Promise<SearchAnswer> {
  return documentsOf(await findPages(ctx, caller, kbName, query))
}

const documentsOf = onePer(
  ({ hits, total: _total, ...understood }: SearchFound): SearchAnswer => ({
    documents: hits,
    ...understood,
  }),
)

/** Converts an answer to that of the route that has the knowledge base in its query. */
export const tenantHitsOf = onePer(
  ({ hits, ...found }: SearchFound): TenantSearchAnswer => ({
    hits: hits.map(({ knowledgeBaseId: _kb, filename: _file, seq: _seq, ...hit }) => hit),
    ...found,
  }),
)

/** Finds pages with words of the query; if there are none, pages near it by meaning. The answer must not be modified. @throws as {@link search} */
export async function findPages(
  ctx: Context,
  caller: Caller,
  kbName: string,
  query: SearchQuery,
): Promise<SearchFound> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const audience = effectiveAudience(caller)
  const find = () => findPagesIn(ctx, kb, audience, query)
  // Results by meaning also change with the vectors, so they are not cached.
  if (ctx.embeddingModel !== undefined) return find()
  return searchAnswers(ctx).get(kb, searchOf(kb, ctx), JSON.stringify([audience, utcDay(ctx.now()), query]), find)
}

/** Finds pages in an open knowledge base, as {@link findPages} does. @param query `by: 'words'` to search by words alone @throws as {@link search} */
export async function findPagesIn(
  ctx: Context,
  kb: ReadableKb,
  audience: Audience,
  query: SearchQuery & { by?: 'words' },
): Promise<SearchFound> {
  const { pins } = await kb.settings()
  const asked = questionKey(query.q)
  const pin = query.kind === 'source' ? undefined : pins.find((one) => questionKey(one.query) === asked)
  if (pin === undefined) return findWords(ctx, kb, audience, query)
  // Pinned pages move the others to later positions.
  const { limit, offset = 0 } = query
  const end = offset + limit
  const found = await findWords(ctx, kb, audience, { ...query, limit: end, offset: 0 })
  const pages = pin.neurons.map((key) => ({ key, highlight: '', rank: 1 }))
  const pinned = await shownOf(ctx, await viewAs(kb, { audience }), pages)
  const others = found.hits.filter(({ seqId }) => !pinned.some((hit) => hit.seqId === seqId))
  const first = pinned.map((hit) => {
    const { highlight } = found.hits.find(({ seqId }) => seqId === hit.seqId) ?? hit
    return { ...hit, highlight, pinned: true as const }
  })
  const hits = [...first, ...others]
  // If all hits are known, so is the number of pinned ones among them.
  return { ...found, hits: hits.slice(offset, end), total: found.total > end ? found.total : hits.length }
}

async function findWords(
  ctx: Context,
  kb: ReadableKb,
  audience: Audience,
  { q, kind, limit, offset = 0, interactive, facets, by }: SearchQuery & { by?: 'words' },
): Promise<SearchFound> {
  const { defaultAudience, synonyms } = await kb.settings()
  const scope = { audience, defaultAudience, limit, offset, ...(kind === 'all' ? {} : { kind }) }
  const options = { isTyped: interactive === true, hasFacets: facets === true, synonyms }
  const { hits, ...answer } = await answered(searchOf(kb, ctx).search({ q, scope, options }))
  const shown = async (pages: readonly PageHit[]) => shownOf(ctx, await viewAs(kb, { audience }), pages)
  if (ctx.embeddingModel === undefined || by === 'words') return { hits: await shown(hits), ...answer }
  // An incomplete query is not embedded: that would ask the model at every letter.
  const isMeant = answer.total === 0 && interactive !== true && isPlain(q)
  const { near, ranking = 'words' } = isMeant ? await answered(searchOf(kb, ctx).near({ q, scope })) : { near: [] }
  if (near.length === 0) return { hits: await shown(hits), ...answer, ranking }
  const { behind } = answer
  return {
    hits: await shown(near),
    total: near.length,
    matched: 'some',
    ranking,
    ...(behind && { behind }),
  }
}

/** Returns the scope of an audience. */
export async function scopeOf(kb: ReadableKb, audience: Audience, limit: number): Promise<Scope> {
  const { defaultAudience } = await kb.settings()
  return { audience, defaultAudience, limit }
}

/** Awaits an answer of the index, and converts errors to those of the contract. */
export async function answered<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof QueryError) throw new ValidationError({ q: [error.message] })
    if (error instanceof SearchTimeout) throw new GanglionError('unavailable', error.message)
    if (error instanceof SearchInterrupted || isBusy(error)) throw new GanglionError('unavailable')
    throw error
  }
}

/** Returns hits of documents that still exist: a Neuron can be removed or hidden, and a Source archived, after the search. */
async function shownOf(ctx: Context, view: KbView, pages: readonly PageHit[]): Promise<SearchHit[]> {
  const keys = pages.map(({ key }) => key)
  const neurons = new Map(view.rows((sql) => neuronsOfHits(sql, keys)).map((neuron) => [neuron.seqId, neuron]))
  const stalenessOf = await stalenessIn(view, ctx.now())
  const shown = pages.map((hit) => {
    const neuron = neurons.get(hit.key)
    if (neuron === undefined) return toSourceHit(ctx, view.kb, hit)
    const { stale } = stalenessOf(neuron)
    return { ...toHit(view.kb, hit, neuron), ...(stale && { stale }) }
  })
  return (await Promise.all(shown)).filter((hit) => hit !== undefined)
}

function toHit(
  { identity }: ViewedKb,
  { key, highlight, rank }: PageHit,
  { documentId, title, path }: NeuronOfHit,
): SearchHit {
  return {
    id: documentId ?? key,
    knowledgeBaseId: identity.id,
    filename: fileName(path),
    title,
    path,
    kind: 'wiki',
    seq: parseSeqId(key)?.number ?? null,
    seqId: key,
    highlight,
    rank,
  }
}

/** Returns undefined for a Source archived since the search, or for a Neuron. */
async function toSourceHit(
  { sources }: Context,
  { identity }: ViewedKb,
  { key, highlight, rank }: PageHit,
): Promise<SearchHit | undefined> {
  const source = await sources.find(identity.tenantId, key)
  if (source === undefined || source.archivedAt !== null) return undefined
  const { id, filename, path, seq } = source
  return {
    id,
    knowledgeBaseId: identity.id,
    filename,
    title: filename,
    path,
    kind: 'source',
    seq,
    seqId: null,
    highlight,
    rank,
  }
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Result of a search: hits, their total, and how the query was read. */
export type SearchFound = Omit<PageHits, 'hits'> & PartialAnswer & { hits: SearchHit[]; ranking?: Ranking }

type Kept = { found: SearchFound; state: string; database: string | undefined }

/** Approximate bytes of cached answers, as objects and as response texts. */
const maxBytes = 16 * 2 ** 20
const hitBytes = 600
const facetBytes = 60

const searchAnswers = onePer(({ database }: Context) => new SearchAnswers(database.revision))

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
    // A result found while the index changed may mix both states, so it is not cached.
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
