import { v7 as uuidv7 } from 'uuid'
import type { NewWebhook } from '../../contract/administration.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import type { EventKind } from '../../contract/events.ts'
import { type Acting, recordAct } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import type { Webhook, WebhookDelivery } from '../../state/webhooks.ts'
import { withTimeout } from '../../system/concurrency/with-timeout.ts'
import { EventView } from '../event-view.ts'
import type { PostOptions } from './post-message.ts'
import { isPublicAddress, requirePublic, resolveHost } from './public-address.ts'
import { receiver, sendEvent, sendTest } from './send-event.ts'

export type ReceiverOptions = Pick<PostOptions, 'allowPrivate' | 'resolve'>
type Owner = Pick<Acting, 'tenantId'>

const maxWebhooks = 100
const resolveLimitMs = 3_000

/**
 * Adds a webhook for a tenant's future events. Only this result contains its secret.
 * @throws {ValidationError} for a host without a public address; {GanglionError} `not_found` for the knowledge base
 */
export async function addWebhook(
  ctx: Context,
  by: Acting,
  { url, kb, kinds, format = 'ganglion' }: NewWebhook,
  options: ReceiverOptions,
): Promise<{ id: string; url: string; secret: string }> {
  const { webhooks, knowledgeBases, events, now } = ctx
  const { tenantId } = by
  const identity = kb === undefined ? undefined : await knowledgeBases.find(tenantId, kb)
  if (kb !== undefined && identity === undefined) throw new GanglionError('not_found')
  await checkReceiver(url, options)
  if ((await webhooks.list(tenantId)).length >= maxWebhooks) {
    throw new ValidationError({}, [`There are ${maxWebhooks} webhooks, the most that a tenant may have.`])
  }
  const { last: cursor } = await events.range(tenantId)
  const { id, secret } = await webhooks.create(
    { tenantId, kbId: identity?.id ?? null, url, kinds, cursor, format },
    now(),
  )
  await recordAct(ctx, by, { action: 'webhook.added', subject: url })
  return { id, url, secret }
}

/** Checks the URL. Accepts a name that cannot be resolved now. @throws {ValidationError} for an address that is not public */
async function checkReceiver(url: string, { allowPrivate, resolve = resolveHost }: ReceiverOptions): Promise<void> {
  if (allowPrivate) return
  const { hostname } = new URL(url)
  const isPublic = async () => {
    requirePublic(new URL(url))
    const addresses = await withTimeout(resolveLimitMs, resolve(hostname), () => []).catch(() => [])
    return addresses.length === 0 || addresses.some(({ address }) => isPublicAddress(address))
  }
  if (!(await isPublic().catch(() => false))) {
    throw new ValidationError({
      url: [`${hostname} has no public address: the server sends there only with GANGLION_WEBHOOK_PRIVATE=true.`],
    })
  }
}

/** Webhook in a list. `kb`: slug of the knowledge base whose events are sent; null for all. `lastEvent`: id of the newest one. */
export type WebhookSummary = Omit<Webhook, 'secret' | 'tenantId'> & { kb: string | null; lastEvent: number }

export async function listWebhooks(ctx: Context, { tenantId }: Owner): Promise<WebhookSummary[]> {
  const slugs = await kbSlugs(ctx, tenantId)
  const { last } = await ctx.events.range(tenantId)
  return (await ctx.webhooks.list(tenantId)).map((webhook) => summaryOf(webhook, slugs, last))
}

/** Returns a webhook and its last 100 deliveries, newest first. @throws {GanglionError} `not_found` */
export async function readWebhook(
  ctx: Context,
  { tenantId }: Owner,
  id: string,
): Promise<{ webhook: WebhookSummary; deliveries: WebhookDelivery[]; firstEvent: number }> {
  const webhook = await webhookOf(ctx, tenantId, id)
  const { first, last } = await ctx.events.range(tenantId)
  return {
    webhook: summaryOf(webhook, await kbSlugs(ctx, tenantId), last),
    deliveries: await ctx.webhooks.deliveries(id),
    firstEvent: first,
  }
}

export async function removeWebhook(ctx: Context, by: Acting, id: string): Promise<void> {
  const { url } = await webhookOf(ctx, by.tenantId, id)
  await ctx.webhooks.remove(id)
  await recordAct(ctx, by, { action: 'webhook.removed', subject: url })
}

/** Changes the kinds of events that are sent. @param kinds empty: all @throws {GanglionError} `not_found` */
export async function setWebhookKinds(
  ctx: Context,
  by: Acting,
  id: string,
  kinds: readonly EventKind[],
): Promise<void> {
  const { url } = await webhookOf(ctx, by.tenantId, id)
  await ctx.webhooks.setKinds(id, kinds)
  await recordAct(ctx, by, { action: 'webhook.changed', subject: url, detail: kinds.join(', ') || 'all events' })
}

/** Pauses a webhook until {@link replayWebhook}. @throws {GanglionError} `not_found` */
export async function pauseWebhook(ctx: Context, by: Acting, id: string): Promise<void> {
  const { url } = await webhookOf(ctx, by.tenantId, id)
  await ctx.webhooks.pause(id, `Paused by ${by.name}.`)
  await recordAct(ctx, by, { action: 'webhook.paused', subject: url })
}

/**
 * Sends events again, or continues where the webhook was paused or failed.
 * @param from id of the first event; absent: the first undelivered one
 * @returns the first event that is sent, and the number of all
 * @throws {GanglionError} `not_found` @throws {ValidationError} for an event that does not exist yet
 */
export async function replayWebhook(
  ctx: Context,
  by: Acting,
  id: string,
  { from }: { from?: number | undefined } = {},
): Promise<{ from: number; events: number }> {
  const { tenantId } = by
  const { cursor, url } = await webhookOf(ctx, tenantId, id)
  const { first, last } = await ctx.events.range(tenantId)
  if (from !== undefined && from > last) throw new ValidationError({ from: [`The last event is ${last}.`] })
  const begin = Math.max(from ?? cursor + 1, first)
  await ctx.webhooks.replay(id, begin - 1)
  await recordAct(ctx, by, { action: 'webhook.replayed', subject: url, detail: `from event ${begin}` })
  return { from: begin, events: Math.max(0, last - begin + 1) }
}

/** Sends a message of the type `webhook.test` now. @throws {GanglionError} `not_found` */
export async function testWebhook(
  ctx: Context,
  { tenantId }: Owner,
  id: string,
  options: ReceiverOptions,
): Promise<WebhookDelivery> {
  const webhook = await webhookOf(ctx, tenantId, id)
  const { delivery } = await sendTest(webhook, uuidv7(), { ...options, now: ctx.now() })
  await ctx.webhooks.noteDelivery(id, delivery)
  return delivery
}

/**
 * Sends one event again now, without moving the cursor of the webhook.
 * @throws {GanglionError} `not_found`, also for an event that is no longer stored or that a receiver may not see
 */
export async function resendEvent(
  ctx: Context,
  { tenantId }: Owner,
  { id, eventId }: { id: string; eventId: number },
  options: ReceiverOptions,
): Promise<WebhookDelivery> {
  const webhook = await webhookOf(ctx, tenantId, id)
  const stored = (await ctx.events.after(tenantId, eventId - 1, 1)).filter((event) => event.id === eventId)
  const [event] = await new EventView(ctx, { tenantId, ...receiver }).tell(stored)
  if (event === undefined) throw new GanglionError('not_found')
  const { delivery } = await sendEvent(ctx, webhook, event, { ...options, now: ctx.now() })
  await ctx.webhooks.noteDelivery(id, delivery)
  return delivery
}

async function webhookOf({ webhooks }: Context, tenantId: string, id: string): Promise<Webhook> {
  const webhook = await webhooks.find(id)
  if (webhook?.tenantId !== tenantId) throw new GanglionError('not_found')
  return webhook
}

async function kbSlugs({ knowledgeBases }: Context, tenantId: string): Promise<Map<string, string>> {
  return new Map((await knowledgeBases.list(tenantId)).map(({ id, slug }) => [id, slug]))
}

function summaryOf(webhook: Webhook, slugs: ReadonlyMap<string, string>, lastEvent: number): WebhookSummary {
  const { secret: _, tenantId: _tenant, ...shown } = webhook
  const { kbId } = webhook
  return { ...shown, kb: kbId === null ? null : (slugs.get(kbId) ?? kbId), lastEvent }
}
