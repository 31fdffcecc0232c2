import { randomBytes } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { EventKind } from '../contract/events.ts'
import { type Camel, camelCase, timeAfter } from './database/row-values.ts'
import type { RowOf, Schema } from './database/schema.ts'
import { deleteRows, findRow, Store, selectRows, updateRows } from './database/store.ts'
import { holdRow, inTransaction } from './database/transaction.ts'
import { servedKbs, servedTenants } from './lifecycle.ts'

/** Destination of a tenant's events after `cursor`, optionally of some kinds or of one knowledge base only. */
export type Webhook = Omit<Camel<RowOf<'webhooks'>>, 'kinds' | 'enabled' | 'formerSecrets'> & {
  kinds: EventKind[]
  isEnabled: boolean
  /** Replaced secrets, oldest first, each with the time until which it signs, too. */
  formerSecrets: z.output<typeof FormerSecrets>
}

/** Attempt to deliver one message of a webhook. */
export type WebhookDelivery = Omit<Camel<RowOf<'webhook_deliveries'>>, 'id' | 'webhookId'>

export type WebhookRecord = Pick<Webhook, 'tenantId' | 'kbId' | 'url' | 'kinds' | 'cursor'> &
  Partial<Pick<Webhook, 'format'>>
type Changes = { [Field in 'url' | 'kinds' | 'isEnabled' | 'cursor']?: Webhook[Field] | undefined }
type Failure = { note: string; isFinal: boolean; dueAt: Date }

/** Maximum deliveries of one webhook that are stored. */
const maxDeliveries = 100

const Kinds = z.array(EventKind)
const FormerSecrets = z.array(z.object({ secret: z.string(), until: z.string() }))

/** Milliseconds for which a replaced secret signs messages, too. */
const rotationMs = 24 * 60 * 60 * 1000
/** Maximum secrets that sign a message. */
const maxSecrets = 5

/** Webhooks with their cursors. Deliveries move a cursor only if it is still where they read it. */
export class Webhooks extends Store {
  async create(
    { tenantId, kbId, url, kinds, cursor, format = 'ganglion' }: WebhookRecord,
    now: Date,
    id = uuidv7(),
  ): Promise<Webhook> {
    const row: RowOf<'webhooks'> = {
      ...{ id, tenant_id: tenantId, kb_id: kbId, url, secret: newSecret(), former_secrets: '[]' },
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

  /** Returns the number of undelivered events of the webhook that has most of them. */
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

  /** Returns the latest deliveries, newest first. */
  async deliveries(id: string): Promise<WebhookDelivery[]> {
    const latest = selectRows(this.db, 'webhook_deliveries', { webhook_id: id }).orderBy('id', 'desc')
    const rows = await latest.limit(maxDeliveries).execute()
    return rows.map(({ id: _, webhook_id: __, ...row }) => camelCase(row))
  }

  /** Records the outcome of a message, and removes the oldest ones. Has no effect if the webhook was removed meanwhile. */
  async noteDelivery(id: string, delivery: WebhookDelivery): Promise<void> {
    await inTransaction(this.db, (transaction) => noteDelivery(transaction, id, delivery), 'read committed')
  }

  /** Removes a webhook. @returns false if there is none */
  async remove(id: string): Promise<boolean> {
    return (await deleteRows(this.db, 'webhooks', { id })) === 1
  }

  /**
   * Records that everything up to an id is delivered.
   * @param delivery attempt to deliver the event with that id, if it was sent
   * @returns the webhook as it is now; undefined if the cursor was moved meanwhile, the webhook removed, or its knowledge base or tenant
   * disabled
   */
  async advance({ id, cursor }: Webhook, to: number, delivery?: WebhookDelivery): Promise<Webhook | undefined> {
    return this.#change({ id, cursor }, { cursor: to, ...healthy }, delivery)
  }

  /** Records that the next event was not delivered. @returns as {@link advance} */
  async fail(
    { id, cursor, failures, failingSince }: Webhook,
    { note, isFinal, dueAt }: Failure,
    delivery: WebhookDelivery,
    now: Date,
  ): Promise<Webhook | undefined> {
    const changes = {
      ...{ note, enabled: Number(!isFinal), failures: failures + 1, due_at: dueAt.toISOString() },
      failing_since: failingSince ?? now.toISOString(),
    }
    return this.#change({ id, cursor }, changes, delivery)
  }

  /**
   * Changes what is given. The next message is due at once. Enabling a webhook delivers the missed events, and a lower `cursor` delivers
   * events again.
   * @param note reason why a webhook is disabled, for people
   */
  async change(id: string, { url, kinds, isEnabled, cursor }: Changes, note: string): Promise<Webhook | undefined> {
    const { note: _, ...due } = healthy
    return this.#change(
      { id },
      {
        ...due,
        ...(isEnabled !== undefined && { enabled: Number(isEnabled), note: isEnabled ? null : note }),
        ...(kinds !== undefined && { kinds: JSON.stringify(kinds) }),
        ...(url !== undefined && { url }),
        ...(cursor !== undefined && { cursor }),
      },
    )
  }

  /** Replaces the secret. The former one signs, too, for a day. @returns undefined if the webhook is gone, or has too many secrets */
  async rotate(id: string, now: Date): Promise<Webhook | undefined> {
    for (;;) {
      const webhook = await this.find(id)
      if (webhook === undefined) return undefined
      const former = validSecrets(webhook, now)
      if (former.length >= maxSecrets - 1) return undefined
      const { secret: replaced } = webhook
      const [secret, formerSecrets] = [
        newSecret(),
        [...former, { secret: replaced, until: timeAfter(now, rotationMs) }],
      ]
      const changes = { secret, former_secrets: JSON.stringify(formerSecrets) }
      const changed = await updateRows(this.db, 'webhooks', { id, secret: replaced }, changes)
      // Otherwise another rotation has replaced the secret meanwhile.
      if (changed === 1) return { ...webhook, secret, formerSecrets }
    }
  }

  /** Changes a webhook. @param webhook with a cursor: only if it is enabled and has this cursor */
  async #change(
    { id, cursor }: { id: string; cursor?: number },
    changes: Partial<RowOf<'webhooks'>>,
    delivery?: WebhookDelivery,
  ): Promise<Webhook | undefined> {
    const change = async (transaction: Transaction<Schema>) => {
      const row = await transaction
        .updateTable('webhooks')
        .set(changes)
        .where('id', '=', id)
        .$if(cursor !== undefined, (query) =>
          query
            .where((webhook) => webhook.and({ cursor: cursor ?? 0, enabled: 1 }))
            .where('id', 'in', servedWebhooks(transaction)),
        )
        .returningAll()
        .executeTakeFirst()
      // Recorded even if the cursor was moved meanwhile, because the message was sent.
      if (delivery !== undefined) await noteDelivery(transaction, id, delivery)
      return row && toWebhook(row)
    }
    return inTransaction(this.db, change, 'read committed')
  }
}

/** Returns a query of the ids of webhooks whose tenant and knowledge base are neither disabled nor deleted. */
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

/** Returns the replaced secrets that still sign messages. */
export function validSecrets({ formerSecrets }: Pick<Webhook, 'formerSecrets'>, now: Date): Webhook['formerSecrets'] {
  return formerSecrets.filter(({ until }) => until > now.toISOString())
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

function toWebhook({ kinds, enabled, former_secrets, ...row }: RowOf<'webhooks'>): Webhook {
  const formerSecrets = FormerSecrets.parse(JSON.parse(former_secrets))
  return { ...camelCase(row), kinds: Kinds.parse(JSON.parse(kinds)), isEnabled: enabled === 1, formerSecrets }
}
