import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Client, ClientConfig } from 'pg'
import type { Schema } from '../schema.ts'
import { KeptConnection } from './kept-connection.ts'

/** Ids of advisory locks: any numbers, as long as all versions take the same. */
const leaderLock = '7418209336153001'
const aloneLock = '7418209336153002'
/** Each server shares it. */
const servedLock = '7418209336153003'
/** Milliseconds between two attempts to take a lock that another holds. */
const pauseMs = 100

/**
 * Does something in one process of all that use the database at a time: in the one that holds an advisory lock, which PostgreSQL
 * frees when its connection ends. Where a network is cut two may do it for a while, until the first notices.
 * @param start begins to do it, and gives how to stop
 * @returns how to stop, and to leave it to others
 */
export function leadOnPostgres(options: ClientConfig, start: () => Promise<() => unknown>): () => Promise<void> {
  let stop: (() => unknown) | undefined
  const connection = new KeptConnection(options, {
    opened: async (client) => void (await client.query('select pg_advisory_lock_shared($1)', [servedLock])),
    async beat(client) {
      if (stop !== undefined) await client.query('select 1')
      else if (await takeLock(client)) stop = await start()
    },
    async lost() {
      await stop?.()
      stop = undefined
    },
  })
  return () => connection.close()
}

async function takeLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [leaderLock])
  return rows[0]?.taken === true
}

export function isServed(db: Kysely<Schema>): Promise<boolean> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${servedLock}) as taken`.execute(
      connection,
    )
    const isFree = rows[0]?.taken === true
    if (isFree) await sql`select pg_advisory_unlock(${servedLock})`.execute(connection)
    return !isFree
  })
}

/** Waits until no other process does this kind of work, and does it. */
export function aloneOnPostgres<Result>(db: Kysely<Schema>, work: () => Promise<Result>): Promise<Result> {
  return db.connection().execute(async (connection) => {
    const take = () => sql<{ taken: boolean }>`select pg_try_advisory_lock(${aloneLock}) as taken`.execute(connection)
    while ((await take()).rows[0]?.taken !== true) await delay(pauseMs)
    try {
      return await work()
    } finally {
      // A connection that is lost has freed it.
      await sql`select pg_advisory_unlock(${aloneLock})`.execute(connection).catch(() => {})
    }
  })
}
