import type { Kysely } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import type { Notifications } from './database/notifications.ts'
import type { RowOf, Schema } from './database/schema.ts'
import { findRow, findRows, selectRows, updateRows } from './database/store.ts'
import { formerSlug, type LifecycleFields, LifecycleStore, toLifecycleFields } from './lifecycle.ts'

/** Limits of a tenant; null: unlimited. */
export type Quotas = { sourceBytes: number | null; knowledgeBases: number | null }

export type Tenant = LifecycleFields & { quotas: Quotas }

export class Tenants extends LifecycleStore {
  constructor(db: Kysely<Schema>, notifications?: Notifications) {
    super(db, 'tenants', notifications)
  }

  /** Finds a tenant by its slug or a former one. */
  async find(slug: string): Promise<Tenant | undefined> {
    const row = await selectRows(this.db, 'tenants', { deleted_at: null })
      .where((where) => where.or([where('slug', '=', slug), where('former_slugs', 'like', formerSlug(slug))]))
      .executeTakeFirst()
    return row && toTenant(row)
  }

  async get(id: string): Promise<Tenant | undefined> {
    const row = await findRow(this.db, 'tenants', { id, deleted_at: null })
    return row && toTenant(row)
  }

  /** Returns all tenants by slug. */
  async list(): Promise<Tenant[]> {
    return (await findRows(this.db, 'tenants', { deleted_at: null }, 'slug')).map(toTenant)
  }

  /** Returns the tenant with a slug, creating it if needed. Concurrent callers get the same one. */
  async ensure(slug: string, now: Date): Promise<Tenant> {
    const known = await this.find(slug)
    if (known !== undefined) return known
    await this.db
      .insertInto('tenants')
      .values({ id: uuidv7(), slug, created_at: now.toISOString() })
      .onConflict((conflict) => conflict.column('slug').doNothing())
      .execute()
    return toTenant(await selectRows(this.db, 'tenants', { slug, deleted_at: null }).executeTakeFirstOrThrow())
  }

  /** Changes the slug of a tenant. @throws {SlugTaken} */
  rename(tenant: Tenant, slug: string): Promise<void> {
    return this.setSlug(tenant, slug, (db) => new Tenants(db).find(slug))
  }

  async setQuotas({ id }: Pick<Tenant, 'id'>, { sourceBytes, knowledgeBases }: Quotas): Promise<void> {
    await updateRows(this.db, 'tenants', { id }, { max_source_bytes: sourceBytes, max_kbs: knowledgeBases })
  }
}

function toTenant({ max_source_bytes, max_kbs, ...row }: RowOf<'tenants'>): Tenant {
  return { ...toLifecycleFields(row), quotas: { sourceBytes: max_source_bytes, knowledgeBases: max_kbs } }
}
