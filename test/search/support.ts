import { onTestFinished } from 'vitest'
import type { Chunk } from '../../src/rules/neurons/chunk.ts'
import { type IndexOptions, KbIndex } from '../../src/search/kb-index.ts'
import type { IndexedDocument, Scope } from '../../src/search/search-index.ts'
import { tempDir } from '../support/temp.ts'

export const curator: Scope = { audience: 'curator', defaultAudience: ['tool', 'public'], limit: 50 }
export const tool: Scope = { ...curator, audience: 'tool' }

/** A page whose chunks are the given texts. */
export function page(
  key: string,
  texts: string | readonly string[],
  changes: Partial<IndexedDocument> = {},
): IndexedDocument {
  const chunks = (typeof texts === 'string' ? [texts] : texts).map(
    (text): Chunk => ({ headings: [], content: text, text }),
  )
  const version = JSON.stringify([texts, changes])
  return {
    key,
    kind: 'wiki',
    version,
    title: '',
    aliases: [],
    tags: [],
    audience: undefined,
    note: undefined,
    chunks,
    ...changes,
  }
}

/** An index of the running test's own. */
export function newIndex(
  engine: IndexOptions['engine'],
  pages: readonly IndexedDocument[] = [],
  directory = tempDir(),
  language = 'en',
): KbIndex {
  const index = new KbIndex(directory, { language, engine })
  onTestFinished(() => index.close())
  if (pages.length > 0) index.apply({ put: pages, remove: [] })
  return index
}

export function keysOf(index: KbIndex, q: string, scope: Scope = curator): string[] {
  return index.search(q, scope).hits.map(({ key }) => key)
}
