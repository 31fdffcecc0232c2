import { sql, type Transaction } from 'kysely'
import { type Camel, camelCase, snakeCase } from './database/row-values.ts'
import type { RowOf, Schema } from './database/schema.ts'
import { Store, selectRows } from './database/store.ts'
import { inTransaction } from './database/transaction.ts'
import { servedKbs, servedTenants } from './lifecycle.ts'

export type StoredNotice = Camel<RowOf<'notices'>>
/** Event and day up to which a tenant's notices have been created. */
export type NoticeCursor = Camel<RowOf<'notice_cursors'>>

/** Maximum rows of a statement. SQLite accepts 32,766 values in one. */
const rowsAtOnce = 1_000

/** Mails to be sent: a row for each notice to a person, until it is sent or abandoned. */
export class Notices extends Store {
  /** Returns the tenants with events without notices, or without reminders since a day, and the id of their last event. */
  async behind(day: string): Promise<(NoticeCursor & { last: number })[]> {
    const rows = await this.db
      .selectFrom('event_counters')
      .leftJoin('notice_cursors', 'notice_cursors.tenant_id', 'event_counters.tenant_id')
      .select(['event_counters.tenant_id as tenantId', 'last', 'event', 'reminded_on as remindedOn'])
      .where('event_counters.tenant_id', 'in', servedTenants(this.db))
      .where(sql<boolean>`(event is null or event <> last or reminded_on < ${day})`)
      .execute()
    return rows.map(({ event, remindedOn, ...row }) => ({ ...row, event: event ?? -1, remindedOn: remindedOn ?? '' }))
  }

  /** Stores notices and advances the cursor, in one transaction. @returns false if another process was first */
  async advance(from: NoticeCursor, to: NoticeCursor, notices: readonly StoredNotice[]): Promise<boolean> {
    const change = async (transaction: Transaction<Schema>) => {
      const { tenant_id, ...place } = snakeCase(to)
      const isThere = sql<boolean>`(notice_cursors.event, notice_cursors.reminded_on) = (${from.event}, ${from.remindedOn})`
      const moved = await transaction
        .insertInto('notice_cursors')
        .values({ tenant_id, ...place })
        .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet(place).where(isThere))
        .returning('event')
        .execute()
      for (let start = 0; moved.length > 0 && start < notices.length; start += rowsAtOnce) {
        const rows = notices.slice(start, start + rowsAtOnce).map(snakeCase)
        const insert = transaction.insertInto('notices').values(rows)
        await insert.onConflict((conflict) => conflict.doNothing()).execute()
      }
      return moved.length > 0
    }
    return inTransaction(this.db, change, 'read committed')
  }

  /** Returns the notices that are due, oldest first, and simultaneous ones by candidate. Skips knowledge bases that are not served. */
  async due(now: Date, limit: number): Promise<StoredNotice[]> {
    let due = selectRows(this.db, 'notices', {}).where('due_at', '<=', now.toISOString())
    for (const column of ['due_at', 'at', 'candidate_id', 'decision', 'id'] as const) due = due.orderBy(column)
    const served = due.where('kb_id', 'in', servedKbs(this.db))
    return (await served.limit(limit).execute()).map(camelCase)
  }

  async change(ids: readonly string[], to: Partial<StoredNotice>): Promise<void> {
    await this.db.updateTable('notices').set(snakeCase(to)).where('id', 'in', ids).execute()
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.db.deleteFrom('notices').where('id', 'in', ids).execute()
  }
}
