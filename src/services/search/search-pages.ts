import { GanglionError } from '../../contract/errors.ts'
import type { SearchHit, SearchQuery } from '../../contract/search.ts'
import { tagKey } from '../../knowledge/tag.ts'
import type { PageHits } from '../../search/search-index.ts'
import { accessOf } from '../../store/neuron-queries.ts'
import { tagsOf } from '../../store/source.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { listKnowledgeBases } from '../read/list-knowledge-bases.ts'
import { findPages } from './search.ts'

export type PersonQuery = Pick<SearchQuery, 'q' | 'kind'> & {
  /** The last word is still being typed: what begins so is found, too. */
  isTyping: boolean
}

/** A page of hits, best first. */
export type HitPage = {
  hits: SearchHit[]
  /** How many there are in all; with a tag, among the best 300 without it. */
  total: number
  page: number
  pages: number
  /** See `PageHits`. */
  matched: PageHits['matched']
  suggestion?: string
}

/** What one of several knowledge bases holds: the best hits. `isUnavailable`: it could not be asked. */
export type KbHits = { kb: { slug: string; title: string }; hits: SearchHit[]; total: number; isUnavailable: boolean }

const perPage = 20
const maxPages = 25
const perKb = 5
const maxKbs = 50
const tagged = 300

/**
 * A page of what a person's query finds in a knowledge base.
 * @throws {GanglionError} `not_found`, `unavailable` @throws {ValidationError} for a query beyond the limits.
 */
export async function searchPages(
  ganglion: Ganglion,
  caller: Caller,
  kbName: string,
  { q, kind, isTyping, tag, page }: PersonQuery & { tag?: string | undefined; page: number },
): Promise<HitPage> {
  const asked = Math.min(page, maxPages)
  const limit = tag === undefined ? asked * perPage : tagged
  const found = await findPages(ganglion, caller, kbName, { q, kind, limit, interactive: isTyping })
  const hits = tag === undefined ? found.hits : await withTag(ganglion, caller, kbName, found.hits, tag)
  const total = tag === undefined ? found.total : hits.length
  return {
    hits: hits.slice((asked - 1) * perPage, asked * perPage),
    total,
    page: asked,
    pages: Math.min(maxPages, Math.ceil(total / perPage)),
    matched: found.matched,
    ...(found.suggestion === undefined ? {} : { suggestion: found.suggestion }),
  }
}

/**
 * The best of what a person's query finds in each knowledge base of the tenant, by slug, where it finds anything; of the first 50.
 * @throws {ValidationError} for a query beyond the limits.
 */
export async function searchEverywhere(
  ganglion: Ganglion,
  caller: Caller,
  { q, kind, isTyping }: PersonQuery,
): Promise<KbHits[]> {
  const { knowledgeBases } = await listKnowledgeBases(ganglion, caller)
  const query = { q, kind, limit: perKb, interactive: isTyping }
  const found = await Promise.all(
    knowledgeBases.slice(0, maxKbs).map(async ({ id, slug, title }): Promise<KbHits> => {
      const kb = { slug, title }
      try {
        return { kb, ...(await findPages(ganglion, caller, id, query)), isUnavailable: false }
      } catch (error) {
        if (!isUnavailable(error)) throw error
        return { kb, hits: [], total: 0, isUnavailable: true }
      }
    }),
  )
  return found.filter(({ total, isUnavailable }) => total > 0 || isUnavailable)
}

async function withTag(
  ganglion: Ganglion,
  caller: Caller,
  kbName: string,
  hits: readonly SearchHit[],
  tag: string,
): Promise<SearchHit[]> {
  const { read: sql } = (await ganglion.kb(caller.tenantId, kbName)).projection
  const key = tagKey(tag)
  const kept = await Promise.all(
    hits.map(async ({ seqId, id }) => {
      const source = seqId === null ? await ganglion.sources.find(caller.tenantId, id) : undefined
      const tags = seqId === null ? source && tagsOf(source) : accessOf(sql, seqId)?.tags
      return tags?.some((one) => tagKey(one) === key) === true
    }),
  )
  return hits.filter((_, index) => kept[index])
}

function isUnavailable(error: unknown): boolean {
  return error instanceof GanglionError && error.status === 503
}
