import { z } from 'zod'
import type { RowOf } from '../database/schema.ts'
import { deleteRows, findRows, Store } from '../database/store.ts'

/** A pull request that stands for candidates, and what was last agreed on with the forge. */
export type ForgePull = Omit<RowOf<'forge_pulls'>, 'link_id' | 'candidates'> & { candidates: string[] }

const Ids = z.array(z.string())

/** The pull requests of linked repositories. */
export class ForgePulls extends Store {
  async list(linkId: string): Promise<ForgePull[]> {
    return (await findRows(this.db, 'forge_pulls', { link_id: linkId }, 'branch')).map(toPull)
  }

  async put(linkId: string, pull: ForgePull): Promise<void> {
    const row: RowOf<'forge_pulls'> = { ...pull, link_id: linkId, candidates: JSON.stringify(pull.candidates) }
    await this.db
      .insertInto('forge_pulls')
      .values(row)
      .onConflict((conflict) => conflict.columns(['link_id', 'branch']).doUpdateSet(row))
      .execute()
  }

  async remove(linkId: string, branch: string): Promise<void> {
    await deleteRows(this.db, 'forge_pulls', { link_id: linkId, branch })
  }
}

function toPull({ link_id: _, candidates, ...row }: RowOf<'forge_pulls'>): ForgePull {
  return { ...row, candidates: Ids.parse(JSON.parse(candidates)) }
}
