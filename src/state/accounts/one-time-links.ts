import { timeAfter } from '../database/row-values.ts'
import type { RowOf } from '../database/schema.ts'
import { changedRows, deleteRows, findRows, Store } from '../database/store.ts'
import { createSecret, hashSecret } from './secret.ts'

/** Link that allows its holder one action, once. */
export type OneTimeLink = {
  purpose: RowOf<'one_time_links'>['purpose']
  /** User whose password the link sets; null: it creates an administrator of the tenant. */
  userId: string | null
  tenantId: string | null
}

/** Milliseconds for which a link is valid, by purpose. */
const lifetimes = { 'set-up': 24 * 60 * 60 * 1000, reset: 60 * 60 * 1000 }

export class OneTimeLinks extends Store {
  /** Creates a link and returns its token, which is not stored. It replaces earlier links of the user, or of the tenant. */
  async create({ purpose, userId, tenantId }: OneTimeLink, now: Date): Promise<string> {
    const token = createSecret()
    const holder = { user_id: userId, tenant_id: tenantId }
    await deleteRows(this.db, 'one_time_links', holder)
    const times = { created_at: now.toISOString(), expires_at: timeAfter(now, lifetimes[purpose]) }
    const row = { hash: hashSecret(token) ?? '', purpose, ...holder, ...times }
    await this.db.insertInto('one_time_links').values(row).execute()
    return token
  }

  /** Reads a link without consuming it: mail scanners open links, too. */
  async find(token: string, now: Date): Promise<OneTimeLink | undefined> {
    return this.db
      .selectFrom('one_time_links')
      .select(['purpose', 'user_id as userId', 'tenant_id as tenantId'])
      .where('hash', '=', hashSecret(token) ?? '')
      .where('expires_at', '>', now.toISOString())
      .executeTakeFirst()
  }

  /** True if a user has an open invitation: a link to choose their first password. */
  async isInvited(userId: string, now: Date): Promise<boolean> {
    const links = await findRows(this.db, 'one_time_links', { user_id: userId, purpose: 'set-up' })
    return links.some((link) => link.expires_at > now.toISOString())
  }

  /** Consumes a link. Of two concurrent attempts, one succeeds. */
  async use(token: string, now: Date): Promise<OneTimeLink | undefined> {
    return this.db
      .deleteFrom('one_time_links')
      .where('hash', '=', hashSecret(token) ?? '')
      .where('expires_at', '>', now.toISOString())
      .returning(['purpose', 'user_id as userId', 'tenant_id as tenantId'])
      .executeTakeFirst()
  }

  async remove(userId: string): Promise<void> {
    await deleteRows(this.db, 'one_time_links', { user_id: userId })
  }

  async clear(): Promise<void> {
    await deleteRows(this.db, 'one_time_links', {})
  }

  /** Removes expired links. Returns their number. */
  async sweep(now: Date): Promise<number> {
    return changedRows(this.db.deleteFrom('one_time_links').where('expires_at', '<=', now.toISOString()))
  }
}
