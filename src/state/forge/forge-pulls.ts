import { z } from 'zod'
import type { ForgePullRow } from '../database/schema.ts'
import { Store } from '../database/store.ts'

/** A pull request that stands for candidates, and what was last agreed on with the forge. */
export type ForgePull = Omit<ForgePullRow, 'link_id' | 'candidates'> & { candidates: string[] }

const Ids = z.array(z.string())

/** The pull requests of linked repositories. */
export class ForgePulls extends Store {
  async list(linkId: string): Promise<ForgePull[]> {
    const rows = await this.db
      .selectFrom('forge_pulls')
      .selectAll()
      .where('link_id', '=', linkId)
      .orderBy('branch')
      .execute()
    return rows.map(toPull)
  }

  async put(linkId: string, pull: ForgePull): Promise<void> {
    const row: ForgePullRow = { ...pull, link_id: linkId, candidates: JSON.stringify(pull.candidates) }
    await this.db
      .insertInto('forge_pulls')
      .values(row)
      .onConflict((conflict) => conflict.columns(['link_id', 'branch']).doUpdateSet(row))
      .execute()
  }

  async remove(linkId: string, branch: string): Promise<void> {
    await this.db.deleteFrom('forge_pulls').where('link_id', '=', linkId).where('branch', '=', branch).execute()
  }
}

function toPull({ link_id: _, candidates, ...row }: ForgePullRow): ForgePull {
  return { ...row, candidates: Ids.parse(JSON.parse(candidates)) }
}
