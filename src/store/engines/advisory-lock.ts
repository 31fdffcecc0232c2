import { type Kysely, type RawBuilder, sql } from 'kysely'
import { ConnectionLost } from '../errors.ts'
import type { Schema } from '../schema.ts'
import { isPostgres } from './is-postgres.ts'
import { stateOf } from './postgres-errors.ts'

const lockNotAvailable = '55P03'

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
    const key = keyOf(name)
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${key}) as taken`.execute(connection)
    if (rows[0]?.taken !== true) return false
    await work().finally(() => release(connection, key))
    return true
  })
}

/** Connections of this process that wait for a turn, or hold one, at most: others must be left for the work itself. */
const maxTurns = 3
let turns = 0

/**
 * Runs work when other processes that ask for a turn of the same name have had theirs, in the order in which they asked. Who has
 * waited for as long as statements wait for a lock, or finds too many waiting, runs it all the same: this keeps nothing safe.
 */
export async function inTurn<Result>(db: Kysely<Schema>, name: string, work: () => Promise<Result>): Promise<Result> {
  if (!isPostgres(db) || turns >= maxTurns) return work()
  turns++
  try {
    return await db.connection().execute(async (connection) => {
      const key = keyOf(name)
      const isTaken = await sql`select pg_advisory_lock(${key})`.execute(connection).then(
        () => true,
        (error: unknown) => {
          if (stateOf(error) !== lockNotAvailable) throw error
          return false
        },
      )
      return work().finally(() => (isTaken ? release(connection, key) : undefined))
    })
  } finally {
    turns--
  }
}

function keyOf(name: string): RawBuilder<unknown> {
  return sql`hashtextextended(${name}, 0)`
}

async function release(connection: Kysely<Schema>, key: RawBuilder<unknown>): Promise<void> {
  // A connection that is lost has let the lock go.
  await sql`select pg_advisory_unlock(${key})`.execute(connection).catch((error: unknown) => {
    if (!(error instanceof ConnectionLost)) throw error
  })
}
