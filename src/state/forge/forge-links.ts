import type { Kysely, Selectable } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import type { ForgeLinkRow, Schema } from '../database/schema.ts'
import { servedKbs } from '../life.ts'

/** Where a secret is: never the secret itself. */
const Reference = z.string().regex(/^(?:env|file):/)
const Credential = z.union([z.object({ token: Reference }), z.object({ appId: z.string(), privateKey: Reference })])
export type CredentialReference = z.output<typeof Credential>

/** A knowledge base that is one with a repository on a forge, and how the two stand. */
export type ForgeLink = {
  /** UUIDv7. */
  id: string
  tenantId: string
  kbId: string
  kind: string
  /** Of the repository's page. */
  url: string
  apiUrl: string | null
  credential: CredentialReference
  /** Where the secret is by which webhooks are signed; null: none are taken. */
  webhookSecret: string | null
  /** Pull requests that may be open for candidates at a time. */
  maxOpen: number
  /** What main is called there. */
  branch: string
  /** The last commit that both mains were known to have. */
  main: string | null
  /** ISO 8601, UTC, by the forge's clock; so are the other times, by ours. What was said until then has been heard. */
  heardAt: string
  /** When a comparison last succeeded. */
  syncedAt: string | null
  /** Since when every attempt fails. */
  failingSince: string | null
  failures: number
  /** Why the last attempt failed, or what a person has to see to. */
  note: string | null
  /** Not to be tried before. */
  dueAt: string | null
  createdAt: string
}

export type NewForgeLink = Pick<
  ForgeLink,
  'tenantId' | 'kbId' | 'kind' | 'url' | 'apiUrl' | 'credential' | 'webhookSecret' | 'maxOpen'
> &
  Partial<Pick<ForgeLink, 'branch'>>
export type ForgeLinkState = Pick<
  ForgeLink,
  'branch' | 'main' | 'heardAt' | 'syncedAt' | 'failingSince' | 'failures' | 'note' | 'dueAt'
>

/** The clock of a forge may be behind ours by so much. */
export const clockDifferenceMs = 3_600_000

/** Which knowledge bases are linked to forges. */
export class ForgeLinks {
  readonly #db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /** @returns undefined where the knowledge base is linked already */
  async create(link: NewForgeLink, now: Date): Promise<ForgeLink | undefined> {
    const at = now.toISOString()
    const row: ForgeLinkRow = {
      ...{ id: uuidv7(), tenant_id: link.tenantId, kb_id: link.kbId, kind: link.kind, url: link.url },
      ...{ api_url: link.apiUrl, credential: JSON.stringify(link.credential), webhook_secret: link.webhookSecret },
      ...{
        max_open: link.maxOpen,
        branch: link.branch ?? 'main',
        main: null,
        heard_at: new Date(now.getTime() - clockDifferenceMs).toISOString(),
        synced_at: null,
        failing_since: null,
        failures: 0,
      },
      ...{ note: null, due_at: null, created_at: at },
    }
    const made = await this.#db
      .insertInto('forge_links')
      .values(row)
      .onConflict((conflict) => conflict.column('kb_id').doNothing())
      .executeTakeFirst()
    return made.numInsertedOrUpdatedRows === 1n ? toLink(row) : undefined
  }

  /** Of one tenant, or of all; oldest first. `disabled`: those of knowledge bases that are not served, too. */
  async list(tenantId?: string, { disabled = false } = {}): Promise<ForgeLink[]> {
    const rows = await this.#db
      .selectFrom('forge_links')
      .selectAll()
      .$if(!disabled, (query) => query.where('kb_id', 'in', servedKbs(this.#db)))
      .$if(tenantId !== undefined, (query) => query.where('tenant_id', '=', tenantId ?? ''))
      .orderBy('id')
      .execute()
    return rows.map(toLink)
  }

  async find(id: string): Promise<ForgeLink | undefined> {
    const row = await this.#db
      .selectFrom('forge_links')
      .selectAll()
      .where('id', '=', id)
      .where('kb_id', 'in', servedKbs(this.#db))
      .executeTakeFirst()
    return row && toLink(row)
  }

  async ofKb(kbId: string): Promise<ForgeLink | undefined> {
    const row = await this.#db.selectFrom('forge_links').selectAll().where('kb_id', '=', kbId).executeTakeFirst()
    return row && toLink(row)
  }

  async note(id: string, state: Partial<ForgeLinkState>): Promise<void> {
    const { branch, main, heardAt, syncedAt, failingSince, failures, note, dueAt } = state
    const named = {
      branch,
      main,
      heard_at: heardAt,
      synced_at: syncedAt,
      failing_since: failingSince,
      failures,
      note,
      due_at: dueAt,
    }
    const given = Object.entries(named).filter(([, value]) => value !== undefined)
    await this.#db.updateTable('forge_links').set(Object.fromEntries(given)).where('id', '=', id).execute()
  }

  /** Forgets the link and its pull requests; both sides stay as they are. @returns false where there is none */
  async remove(id: string): Promise<boolean> {
    const result = await this.#db.deleteFrom('forge_links').where('id', '=', id).executeTakeFirst()
    return result.numDeletedRows === 1n
  }
}

function toLink(row: Selectable<ForgeLinkRow>): ForgeLink {
  return {
    ...{ id: row.id, tenantId: row.tenant_id, kbId: row.kb_id, kind: row.kind, url: row.url, apiUrl: row.api_url },
    credential: Credential.parse(JSON.parse(row.credential)),
    ...{
      webhookSecret: row.webhook_secret,
      maxOpen: row.max_open,
      branch: row.branch,
      main: row.main,
      heardAt: row.heard_at,
    },
    ...{ syncedAt: row.synced_at, failingSince: row.failing_since, failures: row.failures, note: row.note },
    ...{ dueAt: row.due_at, createdAt: row.created_at },
  }
}
