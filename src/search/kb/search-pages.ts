import type { SearchHit, SearchQuery } from '../../contract/search.ts'
import type { Context } from '../../kb/context.ts'
import { isUnavailable } from '../../kb/failure.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { Facets, PageHits } from '../search-index.ts'
import type { PartialAnswer } from './kb-search.ts'
import { findPages } from './search-kb.ts'

export type PersonQuery = Pick<SearchQuery, 'q' | 'kind'> & {
  /** The last word is still being typed: what begins so is found, too. */
  isTyping: boolean
}

export type HitPage = PartialAnswer & {
  hits: SearchHit[]
  /** How many there are in all. */
  total: number
  page: number
  pages: number
  matched: PageHits['matched']
  suggestion?: string
  facets?: Facets
}

/** What one of several knowledge bases holds: the best hits. `isUnavailable`: it could not be asked. */
export type KbHits = PartialAnswer & {
  kb: { slug: string; title: string }
  hits: SearchHit[]
  total: number
  isUnavailable: boolean
}

const perPage = 20
const maxPages = 25
const perKb = 5
const maxKbs = 50

/**
 * A page of what a person's query finds in a knowledge base.
 * @throws {GanglionError} `not_found`, `unavailable` @throws {ValidationError} for a query beyond the limits.
 */
export async function searchPages(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { q, kind, isTyping, tag, page }: PersonQuery & { tag?: string | undefined; page: number },
): Promise<HitPage> {
  const asked = Math.min(page, maxPages)
  const filter = tagFilter(tag)
  const query = { q: filter + q, kind, limit: asked * perPage, interactive: isTyping, facets: true }
  const { hits, total, matched, suggestion, facets, behind } = await findPages(ctx, caller, kbName, query)
  return {
    hits: hits.slice((asked - 1) * perPage, asked * perPage),
    total,
    page: asked,
    pages: Math.min(maxPages, Math.ceil(total / perPage)),
    matched,
    ...(suggestion === undefined ? {} : { suggestion: suggestion.slice(filter.length) }),
    ...(facets === undefined ? {} : { facets }),
    ...(behind && { behind }),
  }
}

/**
 * The best of what a person's query finds in each knowledge base of the tenant, by slug, where it finds anything or
 * can not yet find all; of the first 50.
 * @throws {ValidationError} for a query beyond the limits.
 */
export async function searchEverywhere(
  ctx: Context,
  caller: Caller,
  { q, kind, isTyping }: PersonQuery,
): Promise<KbHits[]> {
  const { knowledgeBases } = await listKnowledgeBases(ctx, caller)
  const query = { q, kind, limit: perKb, interactive: isTyping }
  const found = await Promise.all(
    knowledgeBases.slice(0, maxKbs).map(async ({ id, slug, title }): Promise<KbHits> => {
      const kb = { slug, title }
      try {
        return { kb, ...(await findPages(ctx, caller, id, query)), isUnavailable: false }
      } catch (error) {
        if (!isUnavailable(error)) throw error
        return { kb, hits: [], total: 0, isUnavailable: true }
      }
    }),
  )
  return found.filter(({ total, isUnavailable, behind }) => total > 0 || isUnavailable || behind !== undefined)
}

/** A tag as a filter of the query language. */
function tagFilter(tag: string | undefined): string {
  const value = (tag ?? '').replace(/["“”„＂]/g, '').trim()
  return value === '' ? '' : `tag:"${value}" `
}
