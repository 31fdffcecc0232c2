import type { ReadRepository } from '../git/staged-repository.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import type { AllTables, MainTables, Projection } from './projection/projection.ts'

/**
 * A knowledge base of which main can be read. At its first opening that is possible before its candidates are followed; then what
 * depends on candidates waits for `whole`.
 */
export type ReadableKb = Pick<KnowledgeBase, 'identity' | 'parser' | 'heads' | 'settings'> & {
  repository: ReadRepository
  projection: Pick<Projection, 'revision' | 'heads'> & {
    read: MainTables
    withSnapshot<T>(work: (sql: MainTables) => Promise<T>): Promise<T>
  }
  whole(): Promise<Pick<KnowledgeBase, 'parser'> & { repository: ReadRepository; projection: { read: AllTables } }>
  /** Of a preview: the knowledge base as it is, and the Neurons that are other here. */
  laidOver?: { on: KnowledgeBase; changed: readonly string[] }
}
