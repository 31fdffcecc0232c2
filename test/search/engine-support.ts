import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Catalog, type Visible } from '../../src/search/index/catalog.ts'
import { IndexStore } from '../../src/search/index/index-store.ts'
import { pageTerms } from '../../src/search/index/page-terms.ts'
import { PageWriter } from '../../src/search/index/page-writer.ts'
import type { TermEngine } from '../../src/search/index/term-engine.ts'
import { MiniSearchEngine } from '../../src/search/minisearch/minisearch-engine.ts'
import type { Engine, IndexedDocument, Scope } from '../../src/search/search-index.ts'
import { SegmentEngine } from '../../src/search/segments/segment-engine.ts'
import { SegmentLog } from '../../src/search/segments/segment-log.ts'
import { analyserFor } from '../../src/search/text/analyser.ts'
import { tempDir } from '../support/temp.ts'

export const engines: readonly Engine[] = ['minisearch', 'segments']

/** An engine that holds some pages, and what a scope lets see of them. */
export function newEngine(name: Engine, pages: readonly IndexedDocument[]) {
  const directory = tempDir()
  const analyser = analyserFor('en')
  const store = new IndexStore(join(directory, 'search.db'), analyser.version)
  onTestFinished(() => store.close())
  const catalog = new Catalog(store)
  const engine: TermEngine =
    name === 'segments'
      ? new SegmentEngine(catalog, store, new SegmentLog(catalog, store, directory))
      : new MiniSearchEngine(catalog, store, join(directory, 'search.json'))
  onTestFinished(() => engine.close())
  store.transaction(() => {
    const put = pages.map((page) => ({ ...page, chunks: pageTerms(page, analyser) }))
    new PageWriter({ store, catalog, analyser, engine }).exchange(put, [])
    engine.commit()
  })
  return {
    engine,
    store,
    catalog,
    analyser,
    visible: (scope: Scope): Visible => catalog.visible(scope),
    keyOf: (page: number) => catalog.keyOf(page),
    idOf: (key: string) => store.find(key)?.id ?? -1,
  }
}
