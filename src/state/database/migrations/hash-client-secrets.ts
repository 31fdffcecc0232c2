import { hash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'

/** Prefix of a secret that is a hash. */
const hashed = 'sha256:'

/** Replaces the secrets of clients of the authorization server by their hashes, and removes the key that signed its cookies. May be repeated. */
export async function hashClientSecrets<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`delete from oauth_records where model = 'Seed'`.execute(db)
  const clients = sql<{ hash: string; payload: string }>`select hash, payload from oauth_records where model = 'Client'`
  for (const row of (await clients.execute(db)).rows) {
    const client = JSON.parse(row.payload)
    const { client_secret: secret } = client
    if (typeof secret !== 'string' || secret.startsWith(hashed)) continue
    const payload = JSON.stringify({ ...client, client_secret: hashed + hash('sha256', secret) })
    await sql`update oauth_records set payload = ${payload} where model = 'Client' and hash = ${row.hash}`.execute(db)
  }
}
