import { hash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'

/** Replaces the secrets of clients of the authorization server by their hashes, and removes the key that signed its cookies. */
export async function hashClientSecrets(db: Kysely<unknown>): Promise<void> {
  await sql`delete from oauth_records where model = 'Seed'`.execute(db)
  const clients = sql<{ hash: string; payload: string }>`select hash, payload from oauth_records where model = 'Client'`
  for (const row of (await clients.execute(db)).rows) {
    const client = JSON.parse(row.payload)
    if (typeof client.client_secret !== 'string') continue
    const payload = JSON.stringify({ ...client, client_secret: `sha256:${hash('sha256', client.client_secret)}` })
    await sql`update oauth_records set payload = ${payload} where model = 'Client' and hash = ${row.hash}`.execute(db)
  }
}
