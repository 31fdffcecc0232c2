import { kbPage } from '../../contract/console-paths.ts'

export function chatPage(kbSlug: string, id?: string): string {
  const path = `${kbPage(kbSlug)}/chat`
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`
}

export function feedbackPage(kbSlug: string, id: string, turn: string): string {
  return `${chatPage(kbSlug, id)}/turns/${encodeURIComponent(turn)}/feedback`
}

export function turnId(id: string): string {
  return `turn-${id}`
}

/** The query of a search page. */
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
