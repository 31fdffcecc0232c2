import type { Kysely } from 'kysely'
import type { Schema } from './database/schema.ts'

/** The slug is held by another knowledge base of the same tenant. */
export class SlugTaken extends Error {
  readonly slug: string

  constructor(slug: string) {
    super(`There is a knowledge base ${slug} already.`)
    this.name = 'SlugTaken'
    this.slug = slug
  }
}

export type KbRecord = {
  /** UUIDv7; the name of its repository. */
  id: string
  tenantId: string
  slug: string
  /** What its seqIds begin with. */
  prefix: string
  /** ISO 8601, UTC. */
  createdAt: string
}

/** Which knowledge bases there are and whose they are. Their settings live in their repositories. */
export class KnowledgeBases {
  readonly #db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /** By slug or UUID, within a tenant; no slug is shaped like a UUID, so the two never meet. */
  async find(tenantId: string, slugOrId: string): Promise<KbRecord | undefined> {
    return this.#select()
      .where('tenant_id', '=', tenantId)
      .where((where) => where.or([where('slug', '=', slugOrId), where('id', '=', slugOrId)]))
      .executeTakeFirst()
  }

  /** Of one tenant, or of all; by slug. */
  async list(tenantId?: string): Promise<KbRecord[]> {
    return this.#select()
      .$if(tenantId !== undefined, (query) => query.where('tenant_id', '=', tenantId ?? ''))
      .orderBy('slug')
      .orderBy('id')
      .execute()
  }

  /** Throws {@link SlugTaken} when the tenant has a knowledge base of that slug. */
  async create(knowledgeBase: Omit<KbRecord, 'createdAt'>, now: Date): Promise<KbRecord> {
    const { id, tenantId, slug, prefix } = knowledgeBase
    const createdAt = now.toISOString()
    const row = await this.#db
      .insertInto('knowledge_bases')
      .values({ id, tenant_id: tenantId, slug, prefix, created_at: createdAt })
      .onConflict((conflict) => conflict.columns(['tenant_id', 'slug']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (row === undefined) throw new SlugTaken(slug)
    return { id, tenantId, slug, prefix, createdAt }
  }

  #select() {
    return this.#db
      .selectFrom('knowledge_bases')
      .select(['id', 'tenant_id as tenantId', 'slug', 'prefix', 'created_at as createdAt'])
  }
}
