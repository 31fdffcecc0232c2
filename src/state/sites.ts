import { sql } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { utcDay } from '../contract/moment.ts'
import { createSecret } from './accounts/secret.ts'
import { type Camel, camelCase } from './database/row-values.ts'
import type { RowOf } from './database/schema.ts'
import { deleteRows, findRows, Store, selectRows, updateRows } from './database/store.ts'
import { servedKbs } from './lifecycle.ts'

/** Website that may query a knowledge base without a key. */
export type Site = Omit<Camel<RowOf<'sites'>>, 'origins'> & { origins: string[] }
export type SiteFields = Pick<Site, 'name' | 'origins' | 'perMinute' | 'perDay'>

export class Sites extends Store {
  async create({ tenantId, kbId }: Pick<Site, 'tenantId' | 'kbId'>, fields: SiteFields, now: Date): Promise<Site> {
    const row: RowOf<'sites'> = {
      ...{ id: uuidv7(), tenant_id: tenantId, kb_id: kbId, ...rowOf(fields), secret: createSecret() },
      ...{ disabled_at: null, created_at: now.toISOString(), day: '', asked: 0 },
    }
    await this.db.insertInto('sites').values(row).execute()
    return toSite(row)
  }

  /** Returns the sites of a knowledge base, oldest first. */
  async list(kbId: string): Promise<Site[]> {
    return (await findRows(this.db, 'sites', { kb_id: kbId }, 'id')).map(toSite)
  }

  /** Returns a site; undefined if its knowledge base is not served. */
  async find(id: string): Promise<Site | undefined> {
    const row = await selectRows(this.db, 'sites', { id }).where('kb_id', 'in', servedKbs(this.db)).executeTakeFirst()
    return row && toSite(row)
  }

  async change(id: string, fields: SiteFields): Promise<void> {
    await updateRows(this.db, 'sites', { id }, rowOf(fields))
  }

  async setDisabled(id: string, at: Date | null): Promise<void> {
    await updateRows(this.db, 'sites', { id }, { disabled_at: at?.toISOString() ?? null })
  }

  async remove(id: string): Promise<void> {
    await deleteRows(this.db, 'sites', { id })
  }

  /** Counts a question today. @returns false if the site has reached its limit for a day */
  async count(id: string, now: Date): Promise<boolean> {
    const day = utcDay(now)
    const result = await this.db
      .updateTable('sites')
      .set({ day, asked: sql<number>`case when day = ${day} then asked + 1 else 1 end` })
      .where('id', '=', id)
      .where((where) => where.or([where('day', '<>', day), where('asked', '<', where.ref('per_day'))]))
      .executeTakeFirst()
    return result.numUpdatedRows === 1n
  }
}

function rowOf({ name, origins, perMinute, perDay }: SiteFields) {
  return { name, origins: JSON.stringify(origins), per_minute: perMinute, per_day: perDay }
}

function toSite(row: RowOf<'sites'>): Site {
  return { ...camelCase(row), origins: JSON.parse(row.origins) }
}
