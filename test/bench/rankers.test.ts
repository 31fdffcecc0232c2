import { expect, test } from 'vitest'
import { bm25Peer } from '../../bench/quality/bm25-peer.ts'
import { evaluate } from '../../bench/quality/evaluate.ts'
import { fts5Peer } from '../../bench/quality/fts5-peer.ts'
import { minisearchPeer } from '../../bench/quality/minisearch-peer.ts'
import { productRanker } from '../../bench/quality/product-ranker.ts'
import { SearchTimeout } from '../../src/search/search-index.ts'

const rankers = [productRanker('minisearch'), productRanker('segments'), fts5Peer(), bm25Peer(), minisearchPeer()]

const documents = [
  { id: 'd1', title: 'Wings', text: 'The lift of a wing in a slipstream.' },
  { id: 'd2', title: 'Plates', text: 'The drag of a flat plate.' },
  { id: 'd3', title: 'Bodies', text: 'The lift of a body, and of other bodies.' },
]

test.each(rankers)('$name ranks what holds more of the question first', async (ranker) => {
  await ranker.index(documents)
  expect(await ranker.rank('Which lift has a wing in a "slipstream"?', 2)).toEqual(['d1', 'd3'])
  expect(await ranker.rank('???', 2)).toEqual([])
})

test.each(rankers)('$name forgets a collection for the next', async (ranker) => {
  await ranker.index(documents)
  await ranker.index([{ id: 'd4', title: 'Rotors', text: 'Lift.' }])
  expect(await ranker.rank('lift', 10)).toEqual(['d4'])
})

test.each(rankers)('$name is measured by the means over the queries', async (ranker) => {
  const queries = [
    { id: 'q1', text: 'slipstream' },
    { id: 'q2', text: 'slipstream' },
  ]
  const judgements = new Map([
    ['q1', new Map([['d1', 1]])],
    ['q2', new Map([['d2', 1]])],
  ])
  const quality = await evaluate(ranker, { name: 'little', documents, queries, judgements })
  expect(quality).toEqual({ ranker: ranker.name, ndcg10: 0.5, recall100: 0.5, timedOut: 0 })
})

test('a query that takes too long finds nothing, and is counted', async () => {
  const slow = { ...minisearchPeer(), rank: async () => Promise.reject(new SearchTimeout()) }
  const judgements = new Map([['q1', new Map([['d1', 1]])]])
  const collection = { name: 'little', documents, queries: [{ id: 'q1', text: 'slipstream' }], judgements }
  expect(await evaluate(slow, collection)).toMatchObject({ ndcg10: 0, recall100: 0, timedOut: 1 })
})
