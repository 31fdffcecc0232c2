import { randomBytes } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { EventKind } from '../contract/events.ts'
import { type Camel, camelCase } from './database/row-values.ts'
import type { RowOf, Schema } from './database/schema.ts'
import { deleteRows, findRow, Store, selectRows } from './database/store.ts'
import { holdRow, inTransaction } from './database/transaction.ts'
import { servedKbs, servedTenants } from './lifecycle.ts'

/** Destination of a tenant's events: those after `cursor`, of some kinds and of one knowledge base only if it names them. */
export type Webhook = Omit<Camel<RowOf<'webhooks'>>, 'kinds' | 'enabled'> & { kinds: EventKind[]; isEnabled: boolean }

/** The delivery of one message of a webhook. */
export type WebhookDelivery = Omit<Camel<RowOf<'webhook_deliveries'>>, 'id' | 'webhookId'>

export type WebhookRecord = Pick<Webhook, 'tenantId' | 'kbId' | 'url' | 'kinds' | 'cursor'> &
  Partial<Pick<Webhook, 'format'>>
type Failure = { note: string; isFinal: boolean; dueAt: Date }

/** Deliveries of one webhook that are kept. */
const maxDeliveries = 100

const Kinds = z.array(EventKind)

/** Webhooks and the cursor of each receiver. Every move of a cursor names the place where it stood. */
export class Webhooks extends Store {
  async create(
    { tenantId, kbId, url, kinds, cursor, format = 'ganglion' }: WebhookRecord,
    now: Date,
  ): Promise<Webhook> {
    const row: RowOf<'webhooks'> = {
      ...{ id: uuidv7(), tenant_id: tenantId, kb_id: kbId, url, secret: `whsec_${randomBytes(32).toString('base64')}` },
      ...{ kinds: JSON.stringify(kinds), enabled: 1, cursor, ...healthy, created_at: now.toISOString(), format },
    }
    await this.db.insertInto('webhooks').values(row).execute()
    return toWebhook(row)
  }

  /** Returns the webhooks of one tenant, or of all, oldest first. */
  async list(tenantId?: string): Promise<Webhook[]> {
    const rows = await selectRows(this.db, 'webhooks', tenantId === undefined ? {} : { tenant_id: tenantId })
      .where('id', 'in', servedWebhooks(this.db))
      .orderBy('id')
      .execute()
    return rows.map(toWebhook)
  }

  /** Events after the one that a receiver was sent last, of the webhook that has most of them. */
  async lag(): Promise<number> {
    const row = await this.db
      .selectFrom('webhooks')
      .innerJoin('event_counters', 'event_counters.tenant_id', 'webhooks.tenant_id')
      .select(({ fn }) => fn.max(sql<number>`event_counters.last - webhooks.cursor`).as('events'))
      .where('webhooks.enabled', '=', 1)
      .where('webhooks.id', 'in', servedWebhooks(this.db))
      .executeTakeFirst()
    return Number(row?.events ?? 0)
  }

  async find(id: string): Promise<Webhook | undefined> {
    const row = await findRow(this.db, 'webhooks', { id })
    return row && toWebhook(row)
  }

  /** The latest deliveries, newest first. */
  async deliveries(id: string): Promise<WebhookDelivery[]> {
    const latest = selectRows(this.db, 'webhook_deliveries', { webhook_id: id }).orderBy('id', 'desc')
    const rows = await latest.limit(maxDeliveries).execute()
    return rows.map(({ id: _, webhook_id: __, ...row }) => camelCase(row))
  }

  /** Notes what became of a message, and forgets the oldest. Nothing where the webhook is removed meanwhile. */
  async noteDelivery(id: string, delivery: WebhookDelivery): Promise<void> {
    await inTransaction(this.db, (transaction) => noteDelivery(transaction, id, delivery), 'read committed')
  }

  /** @returns false where there is none. */
  async remove(id: string): Promise<boolean> {
    return (await deleteRows(this.db, 'webhooks', { id })) === 1
  }

  /**
   * Everything up to an id is delivered.
   * @param delivery of the event of that id, where it was sent
   * @returns false where the cursor was moved meanwhile, or the webhook removed, or what it is of disabled.
   */
  async advance({ id, cursor }: Webhook, to: number, delivery?: WebhookDelivery): Promise<boolean> {
    return this.#change({ id, cursor }, { cursor: to, ...healthy }, delivery)
  }

  /** The next event was not delivered. @returns as {@link advance} does. */
  async fail(
    { id, cursor, failures, failingSince }: Webhook,
    { note, isFinal, dueAt }: Failure,
    delivery: WebhookDelivery,
    now: Date,
  ): Promise<boolean> {
    const changes = {
      ...{ note, enabled: Number(!isFinal), failures: failures + 1, due_at: dueAt.toISOString() },
      failing_since: failingSince ?? now.toISOString(),
    }
    return this.#change({ id, cursor }, changes, delivery)
  }

  /** Sends nothing until it is switched on again, which goes on with what it has missed. */
  async pause(id: string, note: string): Promise<boolean> {
    return this.#change({ id }, { ...healthy, enabled: 0, note })
  }

  async setKinds(id: string, kinds: readonly EventKind[]): Promise<boolean> {
    return this.#change({ id }, { kinds: JSON.stringify(kinds) })
  }

  /** Delivers everything after an id, again or for the first time, also where that had been given up. */
  async replay(id: string, after: number): Promise<boolean> {
    return this.#change({ id }, { cursor: after, enabled: 1, ...healthy })
  }

  /** @param webhook with a cursor: only while it is enabled and stands there. */
  async #change(
    { id, cursor }: { id: string; cursor?: number },
    changes: Partial<RowOf<'webhooks'>>,
    delivery?: WebhookDelivery,
  ): Promise<boolean> {
    const change = async (transaction: Transaction<Schema>) => {
      const result = await transaction
        .updateTable('webhooks')
        .set(changes)
        .where('id', '=', id)
        .$if(cursor !== undefined, (query) =>
          query
            .where((webhook) => webhook.and({ cursor: cursor ?? 0, enabled: 1 }))
            .where('id', 'in', servedWebhooks(transaction)),
        )
        .executeTakeFirst()
      // Also where the cursor was moved meanwhile: it was sent all the same.
      if (delivery !== undefined) await noteDelivery(transaction, id, delivery)
      return result.numUpdatedRows === 1n
    }
    return inTransaction(this.db, change, 'read committed')
  }
}

/** The ids of those that do not wait: neither their tenant nor their knowledge base is disabled or deleted. */
function servedWebhooks(db: Kysely<Schema>) {
  return db
    .selectFrom('webhooks')
    .select('webhooks.id')
    .where('tenant_id', 'in', servedTenants(db))
    .where((where) => where.or([where('kb_id', 'is', null), where('kb_id', 'in', servedKbs(db))]))
}

async function noteDelivery(db: Transaction<Schema>, id: string, delivery: WebhookDelivery): Promise<void> {
  if (!(await holdRow(db, 'webhooks', id))) return
  const { eventId, ...rest } = delivery
  await db
    .insertInto('webhook_deliveries')
    .values({ webhook_id: id, event_id: eventId, ...rest })
    .execute()
  await db
    .deleteFrom('webhook_deliveries')
    .where('webhook_id', '=', id)
    .where('id', '<=', (select) =>
      select
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('webhook_id', '=', id)
        .orderBy('id', 'desc')
        .limit(1)
        .offset(maxDeliveries),
    )
    .execute()
}

const healthy = { note: null, failures: 0, failing_since: null, due_at: null }

function toWebhook({ kinds, enabled, ...row }: RowOf<'webhooks'>): Webhook {
  return { ...camelCase(row), kinds: Kinds.parse(JSON.parse(kinds)), isEnabled: enabled === 1 }
}
