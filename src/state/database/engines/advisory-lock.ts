import { type Kysely, type RawBuilder, sql } from 'kysely'
import { ConnectionLost } from '../database-errors.ts'
import { stateOf } from '../postgres-errors.ts'
import type { Schema } from '../schema.ts'
import { isPostgres } from '../store.ts'

const lockNotAvailable = '55P03'

/**
 * Runs work unless another process that uses the database is at the same, on PostgreSQL under an advisory lock, which is held for as
 * long as its connection stands. So it saves work that is done twice, and keeps nothing safe.
 * @returns whether it was run
 */
export async function runUnlessRunning(db: Kysely<Schema>, name: string, work: () => Promise<void>): Promise<boolean> {
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
 * Waits until other processes that asked for a turn of the same name have given theirs back, in the order in which they asked. Who has
 * waited for as long as statements wait for a lock, or finds too many waiting, goes on all the same: this keeps nothing safe.
 * @returns what gives the turn back, and never fails
 */
export async function advisoryTurn(db: Kysely<Schema>, name: string): Promise<() => Promise<void>> {
  if (!isPostgres(db) || turns >= maxTurns) return async () => {}
  turns++
  const taken = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const holding = db
    .connection()
    .execute(async (connection) => {
      const key = keyOf(name)
      const isTaken = await lock(connection, key)
      taken.resolve()
      await over.promise
      if (isTaken) await release(connection, key)
    })
    .finally(() => turns--)
  await Promise.race([taken.promise, holding])
  return async () => {
    over.resolve()
    await holding.catch(() => {}) // what was written in the turn is written
  }
}

/** @returns false where it was waited for too long */
async function lock(connection: Kysely<Schema>, key: RawBuilder<unknown>): Promise<boolean> {
  try {
    await sql`select pg_advisory_lock(${key})`.execute(connection)
    return true
  } catch (error) {
    if (stateOf(error) !== lockNotAvailable) throw error
    return false
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
