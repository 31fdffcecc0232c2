import type { Kysely, Transaction } from 'kysely'
import type { Actor } from '../../knowledge/candidate.ts'
import type { Schema } from '../database/schema.ts'

/** Something that somebody did to a tenant, beside its knowledge: that is in git. */
export type AuditEntry = {
  actor: Actor
  /** `<what>.<done>`, e.g. `user.disabled`. */
  action: string
  /** Whom or what it was done to, for people. */
  subject: string
  /** For people; empty where the action says it all. */
  detail: string
  /** The client's address; null for commands on the server's machine. */
  address: string | null
}

export type StoredAuditEntry = AuditEntry & {
  /** Grows. */
  id: number
  /** ISO 8601, UTC. */
  at: string
}

/** Milliseconds for which an entry is kept: 400 days, so that a year can be compared with the one before. */
const lifetime = 400 * 24 * 60 * 60 * 1000

export class Audit {
  readonly #db: Kysely<Schema> | Transaction<Schema>

  constructor(db: Kysely<Schema> | Transaction<Schema>) {
    this.#db = db
  }

  async record(tenantId: string, { actor, action, subject, detail, address }: AuditEntry, now: Date): Promise<void> {
    await this.#db
      .insertInto('audit')
      .values({
        tenant_id: tenantId,
        at: now.toISOString(),
        actor_id: actor.id,
        actor_name: actor.name,
        action,
        subject,
        detail,
        address,
      })
      .execute()
  }

  /** A tenant's entries, the latest first; `before` is the id of the last one of the page before. */
  async list(tenantId: string, { before, limit }: { before?: number | undefined; limit: number }) {
    const rows = await this.#db
      .selectFrom('audit')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map(
      ({ id, at, actor_id, actor_name, action, subject, detail, address }): StoredAuditEntry => ({
        ...{ id, at, action, subject, detail, address },
        actor: { id: actor_id, name: actor_name },
      }),
    )
  }

  /** Removes old entries; answers how many. */
  async sweep(now: Date): Promise<number> {
    const result = await this.#db
      .deleteFrom('audit')
      .where('at', '<=', new Date(now.getTime() - lifetime).toISOString())
      .executeTakeFirst()
    return Number(result.numDeletedRows)
  }
}
