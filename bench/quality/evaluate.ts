import { SearchTimeout } from '../../src/search/search-index.ts'
import type { Collection } from './collection.ts'
import { mean, ndcg, recall } from './metrics.ts'
import type { Ranker } from './ranker.ts'

/** nDCG@10 and recall@100 of one query, 0 to 1. A query that takes longer than it may finds nothing. */
export type QueryQuality = { ndcg10: number; recall100: number; timedOut: boolean }

/** Means over the queries, and how many of them timed out. */
export type Quality = { ranker: string; ndcg10: number; recall100: number; timedOut: number }

export async function evaluate(ranker: Ranker, collection: Collection): Promise<Quality> {
  await ranker.index(collection.documents)
  const queries = await measureQueries((question) => ranker.rank(question, 100), collection)
  return {
    ranker: ranker.name,
    ndcg10: mean(queries.map(({ ndcg10 }) => ndcg10)),
    recall100: mean(queries.map(({ recall100 }) => recall100)),
    timedOut: queries.filter(({ timedOut }) => timedOut).length,
  }
}

/** @param rank answers with the ids of the best 100 documents. @returns in the order of the collection's queries. */
export async function measureQueries(
  rank: (question: string) => Promise<string[]>,
  { queries, judgements }: Collection,
): Promise<QueryQuality[]> {
  const measured: QueryQuality[] = []
  for (const { id, text } of queries) {
    const ranking = await rank(text).catch((error: unknown) => {
      if (!(error instanceof SearchTimeout)) throw error
      return undefined
    })
    const grades = judgements.get(id) ?? new Map<string, number>()
    measured.push({
      ndcg10: ndcg(ranking ?? [], grades, 10),
      recall100: recall(ranking ?? [], grades, 100),
      timedOut: ranking === undefined,
    })
  }
  return measured
}
