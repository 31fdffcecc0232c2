import type { TestDocument } from './collection.ts'

/** What is measured: an engine that holds one collection at a time. */
export type Ranker = {
  name: string
  /** In place of what it held. */
  index(documents: readonly TestDocument[]): Promise<void>
  /** Ids of at most `limit` documents for a question, best first. */
  rank(question: string, limit: number): Promise<string[]>
}
