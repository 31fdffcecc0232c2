import type { Client, ClientConfig } from 'pg'
import { KeptConnection } from './kept-connection.ts'

/** Of the advisory lock that the leader holds: any number, as long as all versions take the same. */
const lockId = 7_418_209_336_153_001n

/**
 * Does something in one process of all that use the database at a time: in the one that holds an advisory lock, which PostgreSQL
 * frees when its connection ends. Where a network is cut two may do it for a while, until the first notices.
 * @param start begins to do it, and gives how to stop
 * @returns how to stop, and to leave it to others
 */
export function leadOnPostgres(options: ClientConfig, start: () => Promise<() => unknown>): () => Promise<void> {
  let stop: (() => unknown) | undefined
  const connection = new KeptConnection(options, {
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
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [lockId])
  return rows[0]?.taken === true
}
