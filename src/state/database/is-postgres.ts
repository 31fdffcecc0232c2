import { PostgresAdapter, type QueryExecutorProvider } from 'kysely'

/** Whether a database is PostgreSQL, for the few places where the two engines differ. */
export function isPostgres(db: QueryExecutorProvider): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
