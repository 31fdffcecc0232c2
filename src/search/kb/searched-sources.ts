import type { IndexedDocument } from '../search-index.ts'

/** The uploaded Sources of a knowledge base, as the index takes them. */
export type SearchedSources = {
  /** Other whenever there may be others, or others of their texts. */
  mark(): Promise<string>
  /** Another number whenever {@link mark} may be another. */
  changes(): number
  /** By their keys in the index. */
  versions(): Promise<ReadonlyMap<string, string>>
  /** Nothing for a key that is none, or of a text that is not there. */
  document(key: string): Promise<SearchedSource | undefined>
}

/** A Source before it is divided. */
export type SearchedSource = { version: string; length: number; read(): Promise<IndexedDocument> }
