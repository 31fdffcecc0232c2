import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChunks } from '../../src/markdown/chunks/chunks.ts'
import { maxBatch } from '../../src/models/embeddings.ts'
import { KbIndex } from '../../src/search/kb-index.ts'
import type { FeedbackParameters } from '../../src/search/rank/relevance-feedback.ts'
import type { Engine, IndexedDocument, Scope } from '../../src/search/search-index.ts'
import { plainPage } from '../support/plain-page.ts'
import type { TestDocument } from './collection.ts'
import type { Ranker } from './ranker.ts'

/** Number of chunks requested for each page: enough for the pages of any of the collections. */
const chunksPerPage = 3

const view: Omit<Scope, 'limit'> = { audience: 'curator', defaultAudience: [] }

/** Vectors of some texts, in their order. */
export type Embed = (texts: readonly string[]) => Promise<(Float32Array | undefined)[]>

/** @param feedback its parameters, the product's own unless others are given. */
export type ProductRanker = Ranker & {
  rank(question: string, limit: number, feedback?: FeedbackParameters): Promise<string[]>
}

/**
 * The product's own way from a page to the answer of `retrieve`, on one of its engines.
 * @param embed what a model of embeddings gives; without it, words only count.
 */
export function productRanker(engine: Engine, embed?: Embed): ProductRanker {
  const folder = mkdtempSync(join(tmpdir(), 'ganglion-quality-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  let index: KbIndex | undefined
  return {
    name: `Ganglion, ${engine}`,
    index: async (documents) => {
      index?.close()
      rmSync(folder, { recursive: true, force: true })
      const vectors = { file: join(folder, 'vectors.db'), model: 'bench' }
      index = new KbIndex(folder, { language: 'en', engine, ...(embed && { vectors }) })
      index.apply({ put: documents.map(pageOf), remove: [] })
      if (embed !== undefined) await embedAll(index, embed)
    },
    rank: async (question: string, limit: number, feedback?: FeedbackParameters) => {
      const [vector] = (await embed?.([question])) ?? []
      const scope = { ...view, limit: limit * chunksPerPage }
      const chunks = index?.retrieve(question, scope, { vector, ...(feedback && { feedback }) }) ?? []
      return [...new Set(chunks.map(({ key }) => key))].slice(0, limit)
    },
  }
}

async function embedAll({ vectors }: KbIndex, embed: Embed): Promise<void> {
  for (;;) {
    const { texts = [], isWhole = true } = vectors?.next(maxBatch) ?? {}
    if (texts.length === 0 && isWhole) return
    const found = await embed(texts.map(({ text }) => text))
    vectors?.add(texts.map(({ hash }, index) => ({ hash, vector: found[index] })))
  }
}

function pageOf({ id, title, text }: TestDocument): IndexedDocument {
  return plainPage({ key: id, title, chunks: findChunks(text).chunks })
}
