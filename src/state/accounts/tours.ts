import type { Schema } from '../database/schema.ts'
import { findRows, Store } from '../database/store.ts'

export type TourMark = Schema['tour_marks']['mark']

/** Steps of the demo's tour that people have taken. */
export class Tours extends Store {
  async marks(tenantId: string, userId: string): Promise<Set<TourMark>> {
    const rows = await findRows(this.db, 'tour_marks', { tenant_id: tenantId, user_id: userId })
    return new Set(rows.map(({ mark }) => mark))
  }

  async mark(tenantId: string, userId: string, mark: TourMark): Promise<void> {
    await this.db
      .insertInto('tour_marks')
      .values({ tenant_id: tenantId, user_id: userId, mark })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}
