import type { FeedbackParameters } from '../../src/search/rank/relevance-feedback.ts'
import type { Collection } from './collection.ts'
import { measureQueries, type QueryQuality } from './evaluate.ts'
import type { Measured } from './leave-one-out.ts'
import type { ProductRanker } from './product-ranker.ts'

/** The name of the setting without feedback. */
export const noFeedback = 'none'

const settings = new Map<string, FeedbackParameters>([[noFeedback, { pages: 1, decay: 1, weight: 0 }]])
for (const pages of [5, 10, 20]) {
  for (const decay of [0.05, 0.1, 0.2]) {
    for (const weight of [0.3, 0.6, 0.9]) settings.set(`${pages}, ${decay}, ${weight}`, { pages, decay, weight })
  }
}

/** Ranks a collection without feedback and with each of the settings: pages, decay and weight. */
export async function measureFeedback(ranker: ProductRanker, collection: Collection): Promise<Measured> {
  await ranker.index(collection.documents)
  const measured = new Map<string, QueryQuality[]>()
  for (const [name, parameters] of settings) {
    measured.set(name, await measureQueries((question) => ranker.rank(question, 100, parameters), collection))
  }
  return { name: collection.name, settings: measured }
}
