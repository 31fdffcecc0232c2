import { type Kysely, sql } from 'kysely'
import { ConnectionLost } from '../errors.ts'
import type { Schema } from '../schema.ts'
import { isPostgres } from './is-postgres.ts'

/**
 * Runs work unless another process that uses the database is at the same, on PostgreSQL under an advisory lock, which is held for as
 * long as its connection stands. So it saves work that is done twice, and keeps nothing safe.
 * @returns whether it was run
 */
export async function unlessAtWork(db: Kysely<Schema>, name: string, work: () => Promise<void>): Promise<boolean> {
  if (!isPostgres(db)) {
    await work()
    return true
  }
  return db.connection().execute(async (connection) => {
    const key = sql`hashtextextended(${name}, 0)`
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${key}) as taken`.execute(connection)
    if (rows[0]?.taken !== true) return false
    try {
      await work()
      return true
    } finally {
      // A connection that is lost has let the lock go.
      await sql`select pg_advisory_unlock(${key})`.execute(connection).catch((error: unknown) => {
        if (!(error instanceof ConnectionLost)) throw error
      })
    }
  })
}
