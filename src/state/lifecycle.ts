import type { Kysely, Selectable } from 'kysely'
import { GanglionError } from '../contract/errors.ts'
import { Notifications } from './database/notifications.ts'
import { type Camel, camelCase } from './database/row-values.ts'
import type { LifecycleColumns, Schema } from './database/schema.ts'
import { findRow, Store, updateRows } from './database/store.ts'
import { inTransaction, lockRow } from './database/transaction.ts'

/** The slug is held by another tenant, or another knowledge base of the same one, or was once. */
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

/** A row of either. */
export function toLifecycleFields<Row extends Selectable<LifecycleColumns>>({
  deleted_at: _,
  former_slugs,
  ...row
}: Row) {
  const formerSlugs: string[] = JSON.parse(former_slugs)
  return { ...camelCase(row), formerSlugs }
}

/**
 * The ids of the knowledge bases that are served: neither they nor their tenants are disabled or deleted. Whatever is read for a
 * caller by another id than theirs is looked up among those.
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

/** Tenants, or knowledge bases: their names and states. All processes are notified of a change. */
export abstract class LifecycleStore extends Store {
  readonly #table: 'tenants' | 'knowledge_bases'
  readonly #notifications: Notifications

  constructor(db: Kysely<Schema>, table: 'tenants' | 'knowledge_bases', notifications = new Notifications()) {
    super(db)
    this.#table = table
    this.#notifications = notifications
  }

  /** Returns the ids of those that are to be removed. */
  async deleted(): Promise<string[]> {
    const query = this.db.selectFrom(this.#table).select('id').where('deleted_at', 'is not', null)
    return (await query.execute()).map(({ id }) => id)
  }

  /** @param holder finds who has, or had, a name. @throws {SlugTaken} @throws {GanglionError} `not_found` */
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

  /** @param at null: it is served again */
  async setDisabled({ id }: Pick<LifecycleFields, 'id'>, at: Date | null): Promise<void> {
    await this.#change(id, { disabled_at: at?.toISOString() ?? null })
  }

  /** It is not found any more, and to be removed. Its names are free. @returns whether it was not deleted before */
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
