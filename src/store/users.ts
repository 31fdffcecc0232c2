import type { Kysely, Transaction } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import type { PersonRole } from '../contract/vocabulary.ts'
import type { Schema, UserRow } from './schema.ts'

/** Where a database is written to: on its own, or within a transaction. */
type Writer = Kysely<Schema> | Transaction<Schema>

export type User = {
  /** UUIDv7. */
  id: string
  /** Folded. */
  email: string
  name: string
  passwordHash: string | null
  /** ISO 8601, UTC. */
  createdAt: string
  disabledAt: string | null
}

/** A person's role in a tenant. */
export type Membership = { tenantId: string; tenantSlug: string; role: PersonRole }

export type NewUser = Pick<User, 'email' | 'name' | 'passwordHash'>

/** People, and the roles that they have in tenants. */
export class Users {
  readonly #db: Writer

  constructor(db: Writer) {
    this.#db = db
  }

  /** Undefined where another user has the e-mail. */
  async create({ email, name, passwordHash }: NewUser, now: Date): Promise<User | undefined> {
    const row: UserRow = {
      id: uuidv7(),
      email,
      name,
      password_hash: passwordHash,
      issuer: null,
      subject: null,
      created_at: now.toISOString(),
      disabled_at: null,
    }
    const made = await this.#db
      .insertInto('users')
      .values(row)
      .onConflict((conflict) => conflict.column('email').doNothing())
      .returning('id')
      .executeTakeFirst()
    return made && toUser(row)
  }

  async get(id: string): Promise<User | undefined> {
    const row = await this.#select().where('id', '=', id).executeTakeFirst()
    return row && toUser(row)
  }

  /** `email`: folded. */
  async findByEmail(email: string): Promise<User | undefined> {
    const row = await this.#select().where('email', '=', email).executeTakeFirst()
    return row && toUser(row)
  }

  async change(id: string, changes: Partial<Pick<User, 'name' | 'passwordHash'>>): Promise<void> {
    const { name, passwordHash } = changes
    await this.#db
      .updateTable('users')
      .set({
        ...(name === undefined ? {} : { name }),
        ...(passwordHash === undefined ? {} : { password_hash: passwordHash }),
      })
      .where('id', '=', id)
      .execute()
  }

  /** A user's tenants, by slug. */
  async memberships(userId: string): Promise<Membership[]> {
    return this.#db
      .selectFrom('memberships')
      .innerJoin('tenants', 'tenants.id', 'memberships.tenant_id')
      .select(['tenants.id as tenantId', 'tenants.slug as tenantSlug', 'memberships.role'])
      .where('user_id', '=', userId)
      .orderBy('tenants.slug')
      .execute()
  }

  /** Gives a role in a tenant, in place of any before. */
  async setRole(userId: string, tenantId: string, role: PersonRole): Promise<void> {
    await this.#db
      .insertInto('memberships')
      .values({ user_id: userId, tenant_id: tenantId, role })
      .onConflict((conflict) => conflict.columns(['user_id', 'tenant_id']).doUpdateSet({ role }))
      .execute()
  }

  #select() {
    return this.#db.selectFrom('users').selectAll()
  }
}

function toUser(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    passwordHash: row.password_hash,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  }
}
