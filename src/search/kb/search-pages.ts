import type { SearchHit, SearchQuery, TenantSearchAnswer, TenantSearchQuery } from '../../contract/search.ts'
import type { Context } from '../../kb/context.ts'
import { unlessUnavailable } from '../../kb/failure.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import type { Facets } from '../search-index.ts'
import type { PartialAnswer } from './kb-search.ts'
import { findPages, type SearchFound, tenantHitsOf } from './search-kb.ts'

export type PersonQuery = Pick<SearchQuery, 'q' | 'kind'> & {
  /** True if the last word is still being typed: completions are found, too. */
  isTyping: boolean
}

/** A page of hits. `page`: its number, from 1. */
export type HitPage = Omit<SearchFound, 'ranking'> & { page: number; pages: number }

/** Best hits of one knowledge base. `isUnavailable`: it could not be searched. */
export type KbHits = PartialAnswer & {
  kb: { slug: string; title: string }
  hits: SearchHit[]
  total: number
  isUnavailable: boolean
}

const perPage = 20
const maxPages = 25
const perKb = 5
/** Knowledge bases searched at once. */
const atOnce = 50

/**
 * Returns a page of hits for a person's query in a knowledge base.
 * @throws {GanglionError} `not_found`, `unavailable`
 * @throws {ValidationError} for a query beyond the limits.
 */
export async function searchPages(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { q, kind, isTyping, tag, page }: PersonQuery & { tag?: string | undefined; page: number },
): Promise<HitPage> {
  const asked = Math.min(page, maxPages)
  const filter = tagFilter(tag)
  const query = {
    q: filter + q,
    kind,
    limit: perPage,
    offset: (asked - 1) * perPage,
    interactive: isTyping,
    facets: true,
  }
  const { ranking: _, suggestion, ...found } = await findPages(ctx, caller, kbName, query)
  const pages = Math.min(maxPages, Math.ceil(found.total / perPage))
  return { ...found, page: asked, pages, ...(suggestion && { suggestion: suggestion.slice(filter.length) }) }
}

/**
 * Returns the best hits in each knowledge base of the tenant, by slug, where there are any or not all can be found yet. Searches
 * the first 50.
 * @throws {ValidationError} for a query beyond the limits
 */
export async function searchEverywhere(
  ctx: Context,
  caller: Caller,
  { q, kind, isTyping }: PersonQuery,
): Promise<KbHits[]> {
  const found = await findInEach(ctx, caller, { q, kind, limit: perKb, interactive: isTyping })
  return found.filter(({ total, isUnavailable, behind }) => total > 0 || isUnavailable || behind !== undefined)
}

/**
 * Searches one knowledge base, or all of the tenant: then hits are ranked within each and merged by rank. If one has pages that
 * match the whole query, partial matches of others are left out.
 * @throws {GanglionError} `not_found`, `unavailable`
 * @throws {ValidationError} for a query beyond the limits
 */
export async function searchTenant(
  ctx: Context,
  caller: Caller,
  { kb, ...query }: TenantSearchQuery,
): Promise<TenantSearchAnswer> {
  if (kb !== undefined) return tenantHitsOf(await findPages(ctx, caller, kb, query))
  const { limit, offset = 0 } = query
  const all = await findInEach(ctx, caller, { ...query, limit: offset + limit, offset: 0 })
  const isWhole = all.some(({ total, matched }) => total > 0 && matched === 'all')
  const found = all.filter(({ total, matched }) => total > 0 && !(isWhole && matched === 'some'))
  const hits = found.flatMap((one) => tenantHitsOf(one).hits.map((hit) => ({ ...hit, kb: one.kb.slug })))
  const facets = found.flatMap((one) => one.facets ?? [])
  const behind = all.reduce((sum, one) => sum + (one.behind?.pages ?? 0), 0)
  const unavailable = all.filter((one) => one.isUnavailable).map((one) => one.kb.slug)
  const suggestion = hits.length === 0 ? all.find((one) => one.suggestion)?.suggestion : undefined
  return {
    hits: hits.toSorted((a, b) => b.rank - a.rank).slice(offset, offset + limit),
    total: found.reduce((sum, { total }) => sum + total, 0),
    matched: isWhole || found.length === 0 ? 'all' : 'some',
    ...(suggestion && { suggestion }),
    ...(query.facets === true && { facets: joinedFacets(facets) }),
    ...(behind > 0 && { behind: { pages: behind } }),
    ...(unavailable.length > 0 && { unavailable }),
  }
}

type KbFound = SearchFound & Pick<KbHits, 'kb' | 'isUnavailable'>

/** Searches each knowledge base of the tenant, by slug. One that cannot be read does not fail the others. */
async function findInEach(ctx: Context, caller: Caller, query: SearchQuery): Promise<KbFound[]> {
  const { knowledgeBases } = await listKnowledgeBases(ctx, caller)
  const find = async ({ id, slug, title }: { id: string; slug: string; title: string }): Promise<KbFound> => {
    const kb = { slug, title }
    // Holds one knowledge base at a time: a request over all of them must not exceed the number that may be open.
    const found = await inUse(() => findPages(ctx, caller, id, query)).catch(unlessUnavailable)
    return { kb, ...(found ?? { hits: [], total: 0, matched: 'all' }), isUnavailable: found === undefined }
  }
  const found: KbFound[] = []
  // Uses at most half of the knowledge bases that may be open, to leave room for other requests.
  const share = Math.max(1, Math.min(atOnce, Math.floor(ctx.kbs.most / 2)))
  for (let at = 0; at < knowledgeBases.length; at += share)
    found.push(...(await Promise.all(knowledgeBases.slice(at, at + share).map(find))))
  return found
}

function joinedFacets(all: readonly Facets[]): Facets {
  const joined = (name: keyof Facets) => {
    const counts = new Map<string, number>()
    for (const { value, count } of all.flatMap((facets) => facets[name]))
      counts.set(value, (counts.get(value) ?? 0) + count)
    return Array.from(counts, ([value, count]) => ({ value, count }))
      .toSorted((a, b) => b.count - a.count)
      .slice(0, 50)
  }
  return { tags: joined('tags'), kinds: joined('kinds'), folders: joined('folders') }
}

/** Returns a tag as a filter of the query language. */
function tagFilter(tag: string | undefined): string {
  const value = (tag ?? '').replace(/["“”„＂]/g, '').trim()
  return value === '' ? '' : `tag:"${value}" `
}
