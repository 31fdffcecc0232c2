import type { Selectable } from 'kysely'
import { z } from 'zod'
import type { ForgePullRow } from '../database/schema.ts'
import { Store } from '../database/store.ts'

/** A pull request that stands for candidates, and what was last agreed on with the forge. */
export type ForgePull = {
  /** The branch that was made for it; of one that a person opened, its ref there. */
  branch: string
  /** Null from before it is opened until that is known to have happened. */
  number: number | null
  /** Ids. */
  candidates: string[]
  /** As both sides had it last: a side that has it otherwise since has changed it. */
  state: 'open' | 'closed' | 'merged'
  /** The commit that was last pushed to its branch, or read from it. */
  head: string | null
  /** A digest of what that commit changes: the branch is pushed again only if it differs. */
  change: string | null
  /** Of what its text was made. */
  seen: string | null
  /** A digest of the text that it was last given. */
  text: string | null
  /** What was last reported of it, and for which commit. */
  reported: string | null
  /** How many comments of the candidate are there. */
  comments: number
}

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

function toPull({ link_id: _, candidates, ...row }: Selectable<ForgePullRow>): ForgePull {
  return { ...row, candidates: Ids.parse(JSON.parse(candidates)) }
}
