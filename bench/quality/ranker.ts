import type { TestDocument } from './collection.ts'

/** Engine under test, which holds one collection at a time. */
export type Ranker = {
  name: string
  /** Replaces the collection. */
  index(documents: readonly TestDocument[]): Promise<void>
  /** Ids of at most `limit` documents for a question, best first. */
  rank(question: string, limit: number): Promise<string[]>
}
