export type TestDocument = { id: string; title: string; text: string }

export type TestQuery = { id: string; text: string }

/** Documents, queries, and how relevant which document is to which query: by query id, then document id, 0 for not at all. */
export type Collection = {
  name: string
  documents: TestDocument[]
  /** Queries with at least one relevant document. */
  queries: TestQuery[]
  judgements: Map<string, Map<string, number>>
}
