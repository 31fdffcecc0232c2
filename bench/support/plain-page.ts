import type { IndexedDocument } from '../../src/search/search-index.ts'

/** A page of a title and chunks, without anything else that counts. */
export function plainPage({ key, title, chunks }: Pick<IndexedDocument, 'key' | 'title' | 'chunks'>): IndexedDocument {
  return { key, kind: 'wiki', version: '1', title, aliases: [], tags: [], audience: undefined, note: undefined, chunks }
}
