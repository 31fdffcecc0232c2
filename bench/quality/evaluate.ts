import { SearchTimeout } from '../../src/search/search-index.ts'
import type { Collection } from './collection.ts'
import { ndcg, recall } from './metrics.ts'
import type { Ranker } from './ranker.ts'

/** Means over the queries, 0 to 1, and how many queries took longer than they may: those found nothing. */
export type Quality = { ranker: string; ndcg10: number; recall100: number; timedOut: number }

export async function evaluate(ranker: Ranker, { documents, queries, judgements }: Collection): Promise<Quality> {
  await ranker.index(documents)
  let [ndcg10, recall100, timedOut] = [0, 0, 0]
  for (const { id, text } of queries) {
    const ranking = await ranker.rank(text, 100).catch((error: unknown) => {
      if (!(error instanceof SearchTimeout)) throw error
      timedOut++
      return []
    })
    const grades = judgements.get(id) ?? new Map<string, number>()
    ndcg10 += ndcg(ranking, grades, 10) / queries.length
    recall100 += recall(ranking, grades, 100) / queries.length
  }
  return { ranker: ranker.name, ndcg10, recall100, timedOut }
}
