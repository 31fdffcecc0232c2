import { v7 as uuidv7 } from 'uuid'
import type { NoticeMode, PersonRole } from '../../contract/vocabulary.ts'
import { type Camel, camelCase } from '../database/row-values.ts'
import type { RowOf } from '../database/schema.ts'
import { deleteRows, findRow, findRows, Store, selectRows, updateRows } from '../database/store.ts'
import { createSecret } from './secret.ts'

/** User account. `isLinked`: true if the user signs in with an identity provider. */
export type User = Omit<Camel<RowOf<'users'>>, 'issuer' | 'subject' | 'noticeKey'> & { isLinked: boolean }

/** Saved filter of a list in the console, and its name. */
export type SavedFilter = { name: string; path: string }

export type Membership = { tenantId: string; tenantSlug: string; role: PersonRole; filters: SavedFilter[] }

/** User as a member of a tenant. */
export type Person = User & {
  role: PersonRole
  /** Number of open sessions. */
  sessions: number
  /** Last use of an open session; null if there is none. */
  seenAt: string | null
}

export type NewUser = Pick<User, 'email' | 'name' | 'passwordHash'>

/** Identity of a person at an identity provider, which never changes. */
export type Identity = { issuer: string; subject: string }

/** People, and their roles in tenants. */
export class Users extends Store {
  /** Creates a user; undefined if another user has the e-mail. */
  async create({ email, name, passwordHash }: NewUser, now: Date): Promise<User | undefined> {
    const row: RowOf<'users'> = {
      ...{ id: uuidv7(), email, name, password_hash: passwordHash, issuer: null, subject: null },
      ...{ created_at: now.toISOString(), disabled_at: null, notices: 'at-once', notice_key: null },
    }
    const made = await this.db
      .insertInto('users')
      .values(row)
      .onConflict((conflict) => conflict.column('email').doNothing())
      .returning('id')
      .executeTakeFirst()
    return made && toUser(row)
  }

  async get(id: string): Promise<User | undefined> {
    return this.#find({ id })
  }

  /** Finds a user. `email`: folded. */
  async findByEmail(email: string): Promise<User | undefined> {
    return this.#find({ email })
  }

  async findByIdentity({ issuer, subject }: Identity): Promise<User | undefined> {
    return this.#find({ issuer, subject })
  }

  /** Links an identity at a provider to a user without one. */
  async link(id: string, { issuer, subject }: Identity): Promise<void> {
    await updateRows(this.db, 'users', { id, subject: null }, { issuer, subject })
  }

  async rename(id: string, name: string): Promise<void> {
    await updateRows(this.db, 'users', { id }, { name })
  }

  /** Changes the e-mail. Returns false if another user has it. */
  async setEmail(id: string, email: string): Promise<boolean> {
    const other = await this.findByEmail(email)
    if (other !== undefined && other.id !== id) return false
    await updateRows(this.db, 'users', { id }, { email })
    return true
  }

  async setPassword(id: string, passwordHash: string | null): Promise<void> {
    await updateRows(this.db, 'users', { id }, { password_hash: passwordHash })
  }

  /** Disables or enables a user. `at`: time since which the user is disabled; null: enabled. */
  async setDisabled(id: string, at: Date | null): Promise<void> {
    await updateRows(this.db, 'users', { id }, { disabled_at: at?.toISOString() ?? null })
  }

  async setNotices(id: string, notices: NoticeMode): Promise<void> {
    await updateRows(this.db, 'users', { id }, { notices })
  }

  /** Returns the key that signs the link to unsubscribe from mails. Creates it if there is none. */
  async noticeKey(id: string): Promise<string> {
    const made = createSecret()
    await updateRows(this.db, 'users', { id, notice_key: null }, { notice_key: made })
    return (await findRow(this.db, 'users', { id }))?.notice_key ?? made
  }

  /** Returns a user's tenants, by slug. `served`: true to leave out disabled ones. */
  async memberships(userId: string, { served = false } = {}): Promise<Membership[]> {
    const rows = await this.db
      .selectFrom('memberships')
      .innerJoin('tenants', 'tenants.id', 'memberships.tenant_id')
      .select(['tenants.id as tenantId', 'tenants.slug as tenantSlug', 'memberships.role', 'memberships.filters'])
      .where('user_id', '=', userId)
      .where(served ? 'tenants.disabled_at' : 'tenants.deleted_at', 'is', null)
      .orderBy('tenants.slug')
      .execute()
    return rows.map((row) => ({ ...row, filters: JSON.parse(row.filters) }))
  }

  async setFilters(userId: string, tenantId: string, filters: readonly SavedFilter[]): Promise<void> {
    const membership = { user_id: userId, tenant_id: tenantId }
    await updateRows(this.db, 'memberships', membership, { filters: JSON.stringify(filters) })
  }

  /** Sets the role in a tenant, replacing any earlier one. */
  async setRole(userId: string, tenantId: string, role: PersonRole): Promise<void> {
    await this.db
      .insertInto('memberships')
      .values({ user_id: userId, tenant_id: tenantId, role })
      .onConflict((conflict) => conflict.columns(['user_id', 'tenant_id']).doUpdateSet({ role }))
      .execute()
  }

  async removeRole(userId: string, tenantId: string): Promise<void> {
    await deleteRows(this.db, 'memberships', { user_id: userId, tenant_id: tenantId })
  }

  /** Returns people of a tenant by e-mail, after a given e-mail. */
  async list(tenantId: string, { after = '', limit }: { after?: string; limit: number }): Promise<Person[]> {
    const rows = await this.db
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .selectAll('users')
      .select('memberships.role')
      .select((select) => [
        select
          .selectFrom('sessions')
          .whereRef('sessions.user_id', '=', 'users.id')
          .select((session) => session.fn.countAll<number>().as('count'))
          .as('sessions'),
        select
          .selectFrom('sessions')
          .whereRef('sessions.user_id', '=', 'users.id')
          .select((session) => session.fn.max('used_at').as('at'))
          .as('seen_at'),
      ])
      .where('tenant_id', '=', tenantId)
      .where('email', '>', after)
      .orderBy('email')
      .limit(limit)
      .execute()
    return rows.map(({ role, sessions, seen_at: seenAt, ...user }) => ({
      ...{ ...toUser(user), role, sessions: sessions ?? 0, seenAt: seenAt ?? null },
    }))
  }

  /** Returns the enabled curators and administrators of a tenant, by e-mail. */
  async curators(tenantId: string): Promise<User[]> {
    const all = this.db.selectFrom('memberships').select('user_id').where('tenant_id', '=', tenantId)
    const enabled = selectRows(this.db, 'users', { disabled_at: null })
    const curators = enabled.where('id', 'in', all.where('role', '<>', 'reader')).orderBy('email')
    return (await curators.execute()).map(toUser)
  }

  /** Returns all users by e-mail, with their roles. */
  async all(): Promise<(User & { memberships: Membership[] })[]> {
    const rows = await findRows(this.db, 'users', {}, 'email')
    return Promise.all(rows.map(async (row) => ({ ...toUser(row), memberships: await this.memberships(row.id) })))
  }

  /** Returns the number of enabled administrators of a tenant other than a user. */
  async otherAdmins(tenantId: string, userId: string): Promise<number> {
    const row = await this.db
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .select((select) => select.fn.countAll<number>().as('count'))
      .where('tenant_id', '=', tenantId)
      .where('role', '=', 'admin')
      .where('users.id', '!=', userId)
      .where('disabled_at', 'is', null)
      .executeTakeFirstOrThrow()
    return row.count
  }

  /** Returns the enabled administrators of all tenants, the earliest first. */
  async administrators(): Promise<{ id: string; canSignIn: boolean }[]> {
    const rows = await this.db
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .select(['users.id', 'password_hash', 'subject'])
      .where('role', '=', 'admin')
      .where('disabled_at', 'is', null)
      .orderBy('users.id')
      .execute()
    return rows.map(({ id, password_hash, subject }) => ({ id, canSignIn: password_hash !== null || subject !== null }))
  }

  async #find(values: Partial<RowOf<'users'>>): Promise<User | undefined> {
    const row = await findRow(this.db, 'users', values)
    return row && toUser(row)
  }
}

function toUser({ issuer: _, subject, notice_key: _key, ...row }: RowOf<'users'>): User {
  return { ...camelCase(row), isLinked: subject !== null }
}
