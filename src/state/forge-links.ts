import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { type Camel, camelCase, snakeCase, timeAfter } from './database/row-values.ts'
import type { RowOf } from './database/schema.ts'
import { deleteRows, findRow, findRows, Store, selectRows, updateRows } from './database/store.ts'
import { servedKbs } from './lifecycle.ts'

/** Schema of the location of a secret, which is never the secret itself. */
const Reference = z.string().regex(/^(?:env|file):/)
const Credential = z.union([z.object({ token: Reference }), z.object({ appId: z.string(), privateKey: Reference })])
export type CredentialReference = z.output<typeof Credential>

/** Link between a knowledge base and its repository on a forge, with the state of their synchronisation. */
export type ForgeLink = Omit<Camel<RowOf<'forge_links'>>, 'credential'> & { credential: CredentialReference }

export type NewForgeLink = Pick<
  ForgeLink,
  'tenantId' | 'kbId' | 'kind' | 'url' | 'apiUrl' | 'credential' | 'webhookSecret' | 'maxOpen'
> &
  Partial<Pick<ForgeLink, 'branch' | 'isPublic'>>
export type ForgeLinkState = Pick<
  ForgeLink,
  'branch' | 'isPublic' | 'main' | 'heardAt' | 'syncedAt' | 'failingSince' | 'failures' | 'note' | 'dueAt'
>

/** Maximum milliseconds that the clock of a forge is assumed to be behind ours. */
export const clockDifferenceMs = 3_600_000

/** Links between knowledge bases and repositories on forges. */
export class ForgeLinks extends Store {
  /** Creates a link. @returns undefined if the knowledge base already has one */
  async create({ branch = 'main', isPublic = null, ...link }: NewForgeLink, now: Date): Promise<ForgeLink | undefined> {
    const row: RowOf<'forge_links'> = {
      ...{ ...snakeCase(link), id: uuidv7(), credential: JSON.stringify(link.credential), branch, main: null },
      ...{ heard_at: timeAfter(now, -clockDifferenceMs), synced_at: null, is_public: isPublic, failing_since: null },
      ...{ failures: 0, note: null, due_at: null, created_at: now.toISOString() },
    }
    const made = await this.db
      .insertInto('forge_links')
      .values(row)
      .onConflict((conflict) => conflict.column('kb_id').doNothing())
      .executeTakeFirst()
    return made.numInsertedOrUpdatedRows === 1n ? toLink(row) : undefined
  }

  /** Returns the links of one tenant, or of all, oldest first. `disabled`: includes knowledge bases that are not served. */
  async list(tenantId?: string, { disabled = false } = {}): Promise<ForgeLink[]> {
    const rows = await selectRows(this.db, 'forge_links', tenantId === undefined ? {} : { tenant_id: tenantId })
      .$if(!disabled, (query) => query.where('kb_id', 'in', servedKbs(this.db)))
      .orderBy('id')
      .execute()
    return rows.map(toLink)
  }

  async find(id: string): Promise<ForgeLink | undefined> {
    const served = selectRows(this.db, 'forge_links', { id }).where('kb_id', 'in', servedKbs(this.db))
    const row = await served.executeTakeFirst()
    return row && toLink(row)
  }

  async ofKb(kbId: string): Promise<ForgeLink | undefined> {
    const row = await findRow(this.db, 'forge_links', { kb_id: kbId })
    return row && toLink(row)
  }

  async note(id: string, state: Partial<ForgeLinkState>): Promise<void> {
    await updateRows(this.db, 'forge_links', { id }, snakeCase(state))
  }

  /** Removes the link and the rows of its pull requests; both sides stay as they are. @returns false if there is no link */
  async remove(id: string): Promise<boolean> {
    return (await deleteRows(this.db, 'forge_links', { id })) === 1
  }
}

function toLink({ credential, ...row }: RowOf<'forge_links'>): ForgeLink {
  return { ...camelCase(row), credential: Credential.parse(JSON.parse(credential)) }
}

/** Pull request for candidates, with the state that was last agreed on with the forge. */
export type ForgePull = Omit<RowOf<'forge_pulls'>, 'link_id' | 'candidates'> & { candidates: string[] }

const Ids = z.array(z.string())

/** Pull requests of linked repositories. */
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
