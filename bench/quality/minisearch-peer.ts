import MiniSearch from 'minisearch'
import type { TestDocument } from './collection.ts'
import type { Ranker } from './ranker.ts'

/** MiniSearch with its defaults: title and text as fields, any word of the question. */
export function minisearchPeer(): Ranker {
  let index = newIndex()
  return {
    name: 'MiniSearch, defaults',
    index: async (documents) => {
      index = newIndex()
      index.addAll(documents)
    },
    rank: async (question, limit) =>
      index
        .search(question)
        .slice(0, limit)
        .map(({ id }) => String(id)),
  }
}

function newIndex(): MiniSearch<TestDocument> {
  return new MiniSearch({ fields: ['title', 'text'] })
}
