import { timeAfter } from '../database/row-times.ts'
import type { OneTimeLinkRow } from '../database/schema.ts'
import { changedRows, Store } from '../database/store.ts'
import { createSecret, hashSecret } from './secret.ts'

/** Action that a link allows its holder, once. */
export type OneTimeLink = {
  purpose: OneTimeLinkRow['purpose']
  /** User whose password it sets; null: it makes an administrator of the tenant. */
  userId: string | null
  tenantId: string | null
}

/** Milliseconds for which a link of each purpose can be used. */
const lifetimes = { 'set-up': 24 * 60 * 60 * 1000, reset: 60 * 60 * 1000 }

export class OneTimeLinks extends Store {
  /** The token of a new link, in place of those that the user, or the tenant, has. It is in this answer only. */
  async create({ purpose, userId, tenantId }: OneTimeLink, now: Date): Promise<string> {
    const token = createSecret()
    await this.db
      .deleteFrom('one_time_links')
      .where('user_id', 'is not distinct from', userId)
      .where('tenant_id', 'is not distinct from', tenantId)
      .execute()
    const row = {
      ...{ hash: hashSecret(token) ?? '', purpose, user_id: userId, tenant_id: tenantId },
      created_at: now.toISOString(),
      expires_at: timeAfter(now, lifetimes[purpose]),
    }
    await this.db.insertInto('one_time_links').values(row).execute()
    return token
  }

  /** Leaves the link as it is: mail scanners open links, too. */
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
    const link = await this.db
      .selectFrom('one_time_links')
      .select('hash')
      .where('user_id', '=', userId)
      .where('purpose', '=', 'set-up')
      .where('expires_at', '>', now.toISOString())
      .executeTakeFirst()
    return link !== undefined
  }

  /** Uses a link up: of two that try at once, one gets it. */
  async use(token: string, now: Date): Promise<OneTimeLink | undefined> {
    return this.db
      .deleteFrom('one_time_links')
      .where('hash', '=', hashSecret(token) ?? '')
      .where('expires_at', '>', now.toISOString())
      .returning(['purpose', 'user_id as userId', 'tenant_id as tenantId'])
      .executeTakeFirst()
  }

  async remove(userId: string): Promise<void> {
    await this.db.deleteFrom('one_time_links').where('user_id', '=', userId).execute()
  }

  async clear(): Promise<void> {
    await this.db.deleteFrom('one_time_links').execute()
  }

  /** Removes links that have expired; answers how many. */
  async sweep(now: Date): Promise<number> {
    return changedRows(this.db.deleteFrom('one_time_links').where('expires_at', '<=', now.toISOString()))
  }
}
