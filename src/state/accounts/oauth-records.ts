import { z } from 'zod'
import { hashClientSecrets } from '../database/migrations/migrations.ts'
import { deleteRows, findRow, Store, updateRows } from '../database/store.ts'
import { hashToken } from './secret.ts'

type Payload = Record<string, unknown>
type Kept = { payload: Payload; grantId: string | null; expiresAt: Date | null }

const Payload = z.record(z.string(), z.unknown())

/**
 * Records of the authorization server for agents: clients, grants, codes and tokens, each under the hash of its id. Secrets
 * are kept as hashes: see {@link hashedSecret}.
 */
export class OauthRecords extends Store {
  async put(model: string, id: string, { payload, grantId, expiresAt }: Kept): Promise<void> {
    const row = { payload: JSON.stringify(payload), grant_id: grantId, expires_at: expiresAt?.toISOString() ?? null }
    await this.db
      .insertInto('oauth_records')
      .values({ model, hash: hashToken(id), ...row, consumed_at: null })
      .onConflict((conflict) => conflict.columns(['model', 'hash']).doUpdateSet(row))
      .execute()
  }

  async find(model: string, id: string, now: Date): Promise<{ payload: Payload; isConsumed: boolean } | undefined> {
    const row = await findRow(this.db, 'oauth_records', { model, hash: hashToken(id) })
    if (row === undefined || (row.expires_at !== null && row.expires_at <= now.toISOString())) return undefined
    return { payload: Payload.parse(JSON.parse(row.payload)), isConsumed: row.consumed_at !== null }
  }

  /** Consumes a record. Returns false if it was consumed before: of two concurrent attempts, one succeeds. */
  async consume(model: string, id: string, now: Date): Promise<boolean> {
    const fresh = { model, hash: hashToken(id), consumed_at: null }
    return (await updateRows(this.db, 'oauth_records', fresh, { consumed_at: now.toISOString() })) > 0
  }

  /** Makes a record permanent by removing its expiry. */
  async keep(model: string, id: string): Promise<void> {
    await updateRows(this.db, 'oauth_records', { model, hash: hashToken(id) }, { expires_at: null })
  }

  /** Removes all but `max` records of a kind that can expire; those that expire first are removed. */
  async trim(model: string, max: number): Promise<void> {
    const last = this.db
      .selectFrom('oauth_records')
      .select('hash')
      .where('model', '=', model)
      .where('expires_at', 'is not', null)
      .orderBy('expires_at', 'desc')
      .limit(max)
    await this.db
      .deleteFrom('oauth_records')
      .where('model', '=', model)
      .where('expires_at', 'is not', null)
      .where('hash', 'not in', last)
      .execute()
  }

  async remove(model: string, id: string): Promise<void> {
    await deleteRows(this.db, 'oauth_records', { model, hash: hashToken(id) })
  }

  /** Removes the codes and tokens of a grant. */
  async removeGrant(grantId: string): Promise<void> {
    await deleteRows(this.db, 'oauth_records', { grant_id: grantId })
  }

  /** Removes expired records, and plain-text records that nodes of version 0.1.0 write during an upgrade. */
  async sweep(now: Date): Promise<void> {
    await hashClientSecrets(this.db)
    await this.db.deleteFrom('oauth_records').where('expires_at', '<=', now.toISOString()).execute()
  }
}
