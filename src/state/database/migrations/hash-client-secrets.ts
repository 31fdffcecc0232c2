import { type Kysely, sql } from 'kysely'
import { hashedSecret } from '../../accounts/secret.ts'

/** Replaces the secrets of clients of the authorization server by their hashes, and removes the key that signed its cookies. May be repeated. */
export async function hashClientSecrets<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`delete from oauth_records where model = 'Seed'`.execute(db)
  const clients = sql<{ hash: string; payload: string }>`select hash, payload from oauth_records where model = 'Client'`
  for (const row of (await clients.execute(db)).rows) {
    const client = JSON.parse(row.payload)
    if (typeof client.client_secret !== 'string') continue
    const payload = JSON.stringify({ ...client, client_secret: hashedSecret(client.client_secret) })
    if (payload === row.payload) continue
    await sql`update oauth_records set payload = ${payload} where model = 'Client' and hash = ${row.hash}`.execute(db)
  }
}
