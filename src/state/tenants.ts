import type { Kysely } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import type { Schema } from './database/schema.ts'

export type Tenant = {
  /** UUIDv7. */
  id: string
  slug: string
  /** ISO 8601, UTC. */
  createdAt: string
}

export class Tenants {
  readonly #db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  async find(slug: string): Promise<Tenant | undefined> {
    return this.#select().where('slug', '=', slug).executeTakeFirst()
  }

  async get(id: string): Promise<Tenant | undefined> {
    return this.#select().where('id', '=', id).executeTakeFirst()
  }

  /** By slug. */
  async list(): Promise<Tenant[]> {
    return this.#select().orderBy('slug').execute()
  }

  /** Returns the tenant with a slug, and makes it if there is none. Concurrent callers get the same one. */
  async ensure(slug: string, now: Date): Promise<Tenant> {
    await this.#db
      .insertInto('tenants')
      .values({ id: uuidv7(), slug, created_at: now.toISOString() })
      .onConflict((conflict) => conflict.column('slug').doNothing())
      .execute()
    return this.#select().where('slug', '=', slug).executeTakeFirstOrThrow()
  }

  #select() {
    return this.#db.selectFrom('tenants').select(['id', 'slug', 'created_at as createdAt'])
  }
}
