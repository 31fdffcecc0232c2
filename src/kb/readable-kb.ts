import type { KnowledgeBase } from './knowledge-base.ts'
import type { MainTables, Projection } from './projection/projection.ts'

/**
 * A knowledge base of which main can be read. At its first opening that is possible before its candidates are followed; then what
 * depends on candidates waits for `whole`.
 */
export type ReadableKb = Pick<KnowledgeBase, 'identity' | 'repository' | 'parser' | 'heads' | 'settings' | 'whole'> & {
  projection: Pick<Projection, 'revision' | 'heads'> & {
    read: MainTables
    withSnapshot<T>(work: (sql: MainTables) => Promise<T>): Promise<T>
  }
}
