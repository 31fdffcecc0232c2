import type { Kysely, Selectable } from 'kysely'
import { GanglionError } from '../contract/errors.ts'
import { Notifications } from './database/notifications.ts'
import { type Camel, camelCase } from './database/row-values.ts'
import type { LifecycleColumns, Schema } from './database/schema.ts'
import { findRow, Store, updateRows } from './database/store.ts'
import { inTransaction, lockRow } from './database/transaction.ts'

/** Thrown if another tenant, or another knowledge base of the tenant, has or had the slug. */
export class SlugTaken extends Error {
  readonly slug: string

  constructor(slug: string) {
    super(`The name ${slug} is taken.`)
    this.slug = slug
  }
}

/** Fields that tenants and knowledge bases share. */
export type LifecycleFields = Omit<Camel<Selectable<LifecycleColumns>>, 'formerSlugs' | 'deletedAt'> & {
  formerSlugs: string[]
}

/** Returns the shared fields of a row of either table. */
export function toLifecycleFields<Row extends Selectable<LifecycleColumns>>({
  deleted_at: _,
  former_slugs,
  ...row
}: Row) {
  const formerSlugs: string[] = JSON.parse(former_slugs)
  return { ...camelCase(row), formerSlugs }
}

/**
 * Returns a query of the ids of served knowledge bases: neither they nor their tenants are disabled or deleted. Anything that a
 * caller requests by the id of something else must belong to one of these.
 */
export function servedKbs(db: Kysely<Schema>) {
  return db
    .selectFrom('knowledge_bases')
    .innerJoin('tenants', 'tenants.id', 'knowledge_bases.tenant_id')
    .select('knowledge_bases.id')
    .where('knowledge_bases.disabled_at', 'is', null)
    .where('tenants.disabled_at', 'is', null)
}

export function servedTenants(db: Kysely<Schema>) {
  return db.selectFrom('tenants').select('id').where('disabled_at', 'is', null)
}

/** Returns a LIKE pattern that finds a name in `former_slugs`. A name that is no slug matches nothing. */
export function formerSlug(name: string): string {
  return /^[a-z0-9-]+$/.test(name) ? `%"${name}"%` : ''
}

/** Names and states of tenants, or of knowledge bases. All processes are notified of a change. */
export abstract class LifecycleStore extends Store {
  readonly #table: 'tenants' | 'knowledge_bases'
  readonly #notifications: Notifications

  constructor(db: Kysely<Schema>, table: 'tenants' | 'knowledge_bases', notifications = new Notifications()) {
    super(db)
    this.#table = table
    this.#notifications = notifications
  }

  /** Returns the ids of tenants or knowledge bases to be removed. */
  async deleted(): Promise<string[]> {
    const query = this.db.selectFrom(this.#table).select('id').where('deleted_at', 'is not', null)
    return (await query.execute()).map(({ id }) => id)
  }

  /** Changes a slug. @param holder finds the row that has, or had, a name @throws {SlugTaken} @throws {GanglionError} `not_found` */
  async setSlug(
    { id }: Pick<LifecycleFields, 'id'>,
    to: string,
    holder: (db: Kysely<Schema>) => Promise<LifecycleFields | undefined>,
  ): Promise<void> {
    await inTransaction(this.db, async (transaction) => {
      await lockRow(transaction, this.#table, id)
      if (((await holder(transaction))?.id ?? id) !== id) throw new SlugTaken(to)
      const row = await findRow(transaction, this.#table, { id, deleted_at: null })
      if (row === undefined) throw new GanglionError('not_found')
      const names = new Set<string>([...JSON.parse(row.former_slugs), row.slug])
      names.delete(to)
      const former = JSON.stringify([...names])
      await updateRows(transaction, this.#table, { id }, { slug: to, former_slugs: former })
      await this.#notifications.send(transaction, 'life', id)
    })
  }

  /** Disables a row, or enables it if `at` is null. */
  async setDisabled({ id }: Pick<LifecycleFields, 'id'>, at: Date | null): Promise<void> {
    await this.#change(id, { disabled_at: at?.toISOString() ?? null })
  }

  /** Marks a row for removal: it is not found any more, and its names are free. @returns true unless it was deleted before */
  setDeleted({ id }: Pick<LifecycleFields, 'id'>, at: Date): Promise<boolean> {
    const [deleted_at, former_slugs] = [at.toISOString(), '[]']
    return this.#change(id, { deleted_at, disabled_at: deleted_at, slug: id, former_slugs })
  }

  #change(id: string, values: Partial<Selectable<LifecycleColumns>>): Promise<boolean> {
    return inTransaction(this.db, async (transaction) => {
      const changed = await updateRows(transaction, this.#table, { id, deleted_at: null }, values)
      await this.#notifications.send(transaction, 'life', id)
      return changed > 0
    })
  }
}
