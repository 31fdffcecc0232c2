import type { Kysely } from 'kysely'
import { GanglionError } from '../contract/errors.ts'
import type { Notifications } from './database/notifications.ts'
import type { Schema } from './database/schema.ts'
import { findRows, selectRows } from './database/store.ts'
import { inTransaction, lockRow } from './database/transaction.ts'
import {
  formerSlug,
  type LifecycleFields,
  LifecycleStore,
  SlugTaken,
  servedKbs,
  toLifecycleFields,
} from './lifecycle.ts'
import { Tenants } from './tenants.ts'

export type KbRecord = LifecycleFields & {
  tenantId: string
  /** Prefix of the seqIds. */
  prefix: string
}

/** Knowledge bases and their tenants. Settings of a knowledge base live in its repository. */
export class KnowledgeBases extends LifecycleStore {
  constructor(db: Kysely<Schema>, notifications?: Notifications) {
    super(db, 'knowledge_bases', notifications)
  }

  /** Finds by slug, former slug or UUID within a tenant; no slug is shaped like a UUID. Skips disabled ones unless `disabled`. */
  async find(tenantId: string, slugOrId: string, { disabled = false } = {}): Promise<KbRecord | undefined> {
    const row = await selectRows(this.db, 'knowledge_bases', { tenant_id: tenantId, deleted_at: null })
      .where((where) =>
        where.or([
          where('slug', '=', slugOrId),
          where('id', '=', slugOrId),
          where('former_slugs', 'like', formerSlug(slugOrId)),
        ]),
      )
      .$if(!disabled, (query) => query.where('id', 'in', servedKbs(this.db)))
      .executeTakeFirst()
    return row && toLifecycleFields(row)
  }

  /** Returns the served knowledge bases of one tenant, or of all, by slug. */
  async list(tenantId?: string): Promise<KbRecord[]> {
    const served = new Set((await servedKbs(this.db).execute()).map(({ id }) => id))
    return (await this.all(tenantId)).filter(({ id }) => served.has(id))
  }

  /** Returns the knowledge bases of one tenant, or of all, by slug, including disabled ones. */
  async all(tenantId?: string): Promise<KbRecord[]> {
    const some = { deleted_at: null, ...(tenantId !== undefined && { tenant_id: tenantId }) }
    return (await findRows(this.db, 'knowledge_bases', some, 'slug', 'id')).map(toLifecycleFields)
  }

  /** Creates a knowledge base. @throws {SlugTaken} @throws {GanglionError} `tenant_disabled`, `quota_exceeded` */
  async create(knowledgeBase: Pick<KbRecord, 'id' | 'tenantId' | 'slug' | 'prefix'>, now: Date): Promise<KbRecord> {
    const { id, tenantId, slug, prefix } = knowledgeBase
    const createdAt = now.toISOString()
    await inTransaction(this.db, async (transaction) => {
      await lockRow(transaction, 'tenants', tenantId)
      const tenant = await new Tenants(transaction).get(tenantId)
      if (tenant === undefined || tenant.disabledAt !== null) throw new GanglionError('tenant_disabled')
      const store = new KnowledgeBases(transaction)
      if ((await store.find(tenantId, slug, { disabled: true })) !== undefined) throw new SlugTaken(slug)
      const most = tenant.quotas.knowledgeBases
      if (most !== null && (await store.all(tenantId)).length >= most) {
        throw new GanglionError('quota_exceeded', `The tenant may have ${most} knowledge bases.`)
      }
      const row = { id, tenant_id: tenantId, slug, prefix, created_at: createdAt }
      await transaction.insertInto('knowledge_bases').values(row).execute()
    })
    return { id, tenantId, slug, prefix, createdAt, formerSlugs: [], disabledAt: null }
  }

  /** Changes the slug of a knowledge base. @throws {SlugTaken} */
  rename(kb: KbRecord, slug: string): Promise<void> {
    return this.setSlug(kb, slug, (db) => new KnowledgeBases(db).find(kb.tenantId, slug, { disabled: true }))
  }
}
