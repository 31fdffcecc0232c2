import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { ConnectionLost } from '../database-errors.ts'
import { stateOf } from '../postgres-errors.ts'
import type { Schema } from '../schema.ts'
import { isPostgres } from '../store.ts'

/** Ids of advisory locks: arbitrary numbers, which all versions must share. Each server holds the last one shared. */
const aloneLock = sql`7418209336153002`
export const servedLock = '7418209336153003'
const lockNotAvailable = '55P03'
/** Milliseconds between two attempts to take a lock that another process holds. */
const pauseMs = 100

/**
 * Runs work unless another process that uses the database runs it. On PostgreSQL this takes an advisory lock, which ends with its
 * connection, so it only avoids duplicate work.
 * @returns the result of the work; undefined if it was not run
 */
export async function runUnlessRunning<Result>(
  db: Kysely<Schema>,
  name: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  if (!isPostgres(db)) return work()
  return db.connection().execute(async (connection) => {
    const key = keyOf(name)
    return (await tryLock(connection, key)) ? work().finally(() => unlock(connection, key)) : undefined
  })
}

/** Maximum connections of this process that wait for a turn, or hold one. The rest are for the work itself. */
const maxTurns = 3
let turns = 0

/**
 * Waits until other processes that requested a turn of the same name before have returned it. Continues without a turn after the lock
 * timeout, or if too many wait: a turn protects nothing.
 * @returns a function that returns the turn, and never fails
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
      if (isTaken) await unlock(connection, key)
    })
    .finally(() => turns--)
  await Promise.race([taken.promise, holding])
  return async () => {
    over.resolve()
    await holding.catch(() => {}) // The work of the turn is already committed.
  }
}

export function isServed(db: Kysely<Schema>): Promise<boolean> {
  const key = sql.raw(servedLock)
  return db.connection().execute(async (connection) => {
    const isFree = await tryLock(connection, key)
    if (isFree) await unlock(connection, key)
    return !isFree
  })
}

/** Runs work while no other process runs work under this lock. */
export function aloneOnPostgres<Result>(db: Kysely<Schema>, work: () => Promise<Result>): Promise<Result> {
  return db.connection().execute(async (connection) => {
    while (!(await tryLock(connection, aloneLock))) await delay(pauseMs)
    return work().finally(() => unlock(connection, aloneLock))
  })
}

function keyOf(name: string): RawBuilder<unknown> {
  return sql`hashtextextended(${name}, 0)`
}

async function tryLock(connection: Kysely<Schema>, key: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${key}) as taken`.execute(connection)
  return rows[0]?.taken === true
}

/** Waits for a lock. @returns false after the lock timeout */
async function lock(connection: Kysely<Schema>, key: RawBuilder<unknown>): Promise<boolean> {
  try {
    await sql`select pg_advisory_lock(${key})`.execute(connection)
    return true
  } catch (error) {
    if (stateOf(error) !== lockNotAvailable) throw error
    return false
  }
}

async function unlock(connection: Kysely<Schema>, key: RawBuilder<unknown>): Promise<void> {
  // A lost connection has already released the lock.
  await sql`select pg_advisory_unlock(${key})`.execute(connection).catch((error: unknown) => {
    if (!(error instanceof ConnectionLost)) throw error
  })
}
