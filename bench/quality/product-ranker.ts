import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { extractChunks } from '../../src/markdown/chunks.ts'
import { KbIndex } from '../../src/search/kb-index.ts'
import type { Engine, IndexedDocument, Scope } from '../../src/search/search-index.ts'
import type { TestDocument } from './collection.ts'
import type { Ranker } from './ranker.ts'

/** How many chunks are asked for to have one page: enough for the pages of any of the collections. */
const chunksPerPage = 3

const view: Omit<Scope, 'limit'> = { audience: 'curator', defaultAudience: [] }

/** The product's own way from a page to the answer of `retrieve`, on one of its engines. */
export function productRanker(engine: Engine): Ranker {
  const folder = mkdtempSync(join(tmpdir(), 'ganglion-quality-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  let index: KbIndex | undefined
  return {
    name: `Ganglion, ${engine}`,
    index: async (documents) => {
      index?.close()
      rmSync(folder, { recursive: true, force: true })
      index = new KbIndex(folder, { language: 'en', engine })
      index.apply({ put: documents.map(pageOf), remove: [] })
    },
    rank: async (question, limit) => {
      const chunks = index?.retrieve(question, { ...view, limit: limit * chunksPerPage }) ?? []
      return [...new Set(chunks.map(({ key }) => key))].slice(0, limit)
    },
  }
}

function pageOf({ id, title, text }: TestDocument): IndexedDocument {
  return {
    key: id,
    kind: 'wiki',
    version: '1',
    title,
    aliases: [],
    tags: [],
    audience: undefined,
    note: undefined,
    chunks: extractChunks(text),
  }
}
