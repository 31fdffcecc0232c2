import { kbPage } from '../../contract/console-paths.ts'

export type SearchAsked = {
  q: string
  kind: 'all' | 'wiki' | 'source'
  tag?: string | undefined
  page?: number | undefined
}

/** Returns the path of a search page: of one knowledge base, or of all. */
export function searchPath(kbSlug: string | undefined, asked?: SearchAsked): string {
  const path = kbSlug === undefined ? '/search' : `${kbPage(kbSlug)}/search`
  if (asked === undefined) return path
  const { q, kind, tag, page = 1 } = asked
  const query = new URLSearchParams({ q })
  if (kind !== 'all') query.set('kind', kind)
  if (tag !== undefined) query.set('tag', tag)
  if (page > 1) query.set('page', String(page))
  return `${path}?${query}`
}
