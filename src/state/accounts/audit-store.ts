import type { Actor } from '../../rules/candidates/candidate.ts'
import { type Camel, daysBefore } from '../database/row-values.ts'
import type { RowOf } from '../database/schema.ts'
import { changedRows, Store, selectRows } from '../database/store.ts'

/** Recorded action on a tenant. Changes of its knowledge are in git instead. */
export type StoredAuditEntry = Omit<Camel<RowOf<'audit'>>, 'tenantId' | 'actorId' | 'actorName'> & {
  actor: Actor
}
export type AuditEntry = Omit<StoredAuditEntry, 'id' | 'at'>

export class Audit extends Store {
  async record(tenantId: string, { actor, action, subject, detail, address }: AuditEntry, now: Date): Promise<void> {
    const who = { tenant_id: tenantId, actor_id: actor.id, actor_name: actor.name }
    const row = { ...who, at: now.toISOString(), action, subject, detail, address }
    await this.db.insertInto('audit').values(row).execute()
  }

  /** Returns a tenant's entries, latest first. `before`: id of the last entry of the previous page. */
  async list(tenantId: string, { before, limit }: { before?: number | undefined; limit: number }) {
    const rows = await selectRows(this.db, 'audit', { tenant_id: tenantId })
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map(({ tenant_id: _, actor_id: id, actor_name: name, ...row }): StoredAuditEntry => {
      return { ...row, actor: { id, name } }
    })
  }

  /** Removes entries older than some days, by default somewhat more than a year. Returns their number. */
  async sweep(now: Date, days = 400): Promise<number> {
    return changedRows(this.db.deleteFrom('audit').where('at', '<=', daysBefore(now, days)))
  }
}
