import { v7 as uuidv7 } from 'uuid'
import type { ListedWebhook, NewWebhook, WebhookChange } from '../../contract/administration.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { type Acting, recordAct } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import { validSecrets, type Webhook, type WebhookDelivery } from '../../state/webhooks.ts'
import { withTimeout } from '../../system/concurrency/with-timeout.ts'
import { EventView } from '../event-view.ts'
import type { PostOptions } from './post-message.ts'
import { isPublicAddress, requirePublic, resolveHost } from './public-address.ts'
import { receiver, sendEvent, sendTest } from './send-event.ts'

export type ReceiverOptions = Pick<PostOptions, 'allowPrivate' | 'resolve'>

const maxWebhooks = 100
const resolveLimitMs = 3_000

/**
 * Adds a webhook for future events. Only this result contains its secret.
 * @throws {ValidationError} for a host without a public address
 * @throws {GanglionError} `not_found` for the knowledge base, `insufficient_role`
 */
export async function addWebhook(
  ctx: Context,
  by: Acting,
  { url, kb, kinds = [], format = 'ganglion' }: NewWebhook,
  options: ReceiverOptions,
  id?: string,
): Promise<ListedWebhook & { secret: string }> {
  const { webhooks, knowledgeBases, events, now } = ctx
  const { tenantId } = by
  const identity = kb === undefined ? undefined : await knowledgeBases.find(tenantId, kb)
  if (kb !== undefined && identity === undefined) throw new GanglionError('not_found')
  const kbId = identity?.id ?? null
  if (!mayManage(by, { kbId })) throw new GanglionError('insufficient_role')
  await checkReceiver(url, options)
  if ((await webhooks.list(tenantId)).length >= maxWebhooks) {
    throw new ValidationError({}, [`There are ${maxWebhooks} webhooks, the most that a tenant may have.`])
  }
  const { last: cursor } = await events.range(tenantId)
  const webhook = await webhooks.create({ tenantId, kbId, url, kinds, cursor, format }, now(), id)
  await recordAct(ctx, by, { action: 'webhook.added', subject: url })
  return { ...(await summaryOf(ctx, webhook)), secret: webhook.secret }
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

/** Returns the webhooks that the caller may manage. */
export async function listWebhooks(ctx: Context, by: Acting): Promise<ListedWebhook[]> {
  const managed = (await ctx.webhooks.list(by.tenantId)).filter((webhook) => mayManage(by, webhook))
  return managed.map(await summarizer(ctx, by.tenantId))
}

/** Returns a webhook and its last 100 deliveries, newest first. @throws {GanglionError} `not_found` */
export async function readWebhook(
  ctx: Context,
  by: Acting,
  id: string,
): Promise<ListedWebhook & { firstEvent: number; deliveries: WebhookDelivery[] }> {
  const webhook = await summaryOf(ctx, await webhookOf(ctx, by, id))
  const { first: firstEvent } = await ctx.events.range(by.tenantId)
  return { ...webhook, firstEvent, deliveries: await ctx.webhooks.deliveries(id) }
}

export async function removeWebhook(ctx: Context, by: Acting, id: string): Promise<void> {
  const { url } = await webhookOf(ctx, by, id)
  await ctx.webhooks.remove(id)
  await recordAct(ctx, by, { action: 'webhook.removed', subject: url })
}

/**
 * Changes, pauses or resumes a webhook, or sends events again.
 * @throws {GanglionError} `not_found`
 * @throws {ValidationError} for a host without a public address, and for an event that does not exist yet
 */
export async function changeWebhook(
  ctx: Context,
  by: Acting,
  id: string,
  { url, kinds, isEnabled, from }: WebhookChange,
  options: ReceiverOptions,
): Promise<ListedWebhook> {
  const { url: subject } = await webhookOf(ctx, by, id)
  if (url !== undefined) await checkReceiver(url, options)
  const { first, last } = await ctx.events.range(by.tenantId)
  if (from !== undefined && from > last) throw new ValidationError({ from: [`The last event is ${last}.`] })
  const change = { url, kinds, isEnabled, cursor: from && Math.max(from, first) - 1 }
  const webhook = await ctx.webhooks.change(id, change, `Paused by ${by.name}.`)
  if (webhook === undefined) throw new GanglionError('not_found')
  const acts = {
    'webhook.changed': url ?? (kinds && (kinds.join(', ') || 'all events')),
    'webhook.replayed': from === undefined ? undefined : `from event ${from}`,
    [isEnabled ? 'webhook.resumed' : 'webhook.paused']:
      isEnabled === undefined || (isEnabled && from !== undefined) ? undefined : '',
  }
  for (const [action, detail] of Object.entries(acts))
    if (detail !== undefined) await recordAct(ctx, by, { action, subject, detail })
  return summaryOf(ctx, webhook)
}

/**
 * Replaces the secret of a webhook; the former one signs, too, for a day. Only this result contains the new one.
 * @throws {GanglionError} `not_found` @throws {ValidationError} if it was replaced too often in a day
 */
export async function rotateWebhook(ctx: Context, by: Acting, id: string): Promise<ListedWebhook & { secret: string }> {
  const { url } = await webhookOf(ctx, by, id)
  const webhook = await ctx.webhooks.rotate(id, ctx.now())
  if (webhook === undefined) {
    const [oldest] = validSecrets(await webhookOf(ctx, by, id), ctx.now())
    throw new ValidationError({}, [`The secret was replaced too often in a day: wait until ${oldest?.until}.`])
  }
  await recordAct(ctx, by, { action: 'webhook.rotated', subject: url })
  return { ...(await summaryOf(ctx, webhook)), secret: webhook.secret }
}

/** Sends a message of the type `webhook.test` now. @throws {GanglionError} `not_found` */
export async function testWebhook(
  ctx: Context,
  by: Acting,
  id: string,
  options: ReceiverOptions,
): Promise<WebhookDelivery> {
  const webhook = await webhookOf(ctx, by, id)
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
  by: Acting,
  { id, eventId }: { id: string; eventId: number },
  options: ReceiverOptions,
): Promise<WebhookDelivery> {
  const { tenantId } = by
  const webhook = await webhookOf(ctx, by, id)
  const stored = (await ctx.events.after(tenantId, eventId - 1, 1)).filter((event) => event.id === eventId)
  const [event] = await new EventView(ctx, { tenantId, ...receiver }).tell(stored)
  if (event === undefined) throw new GanglionError('not_found')
  const { delivery } = await sendEvent(ctx, webhook, event, { ...options, now: ctx.now() })
  await ctx.webhooks.noteDelivery(id, delivery)
  return delivery
}

/** True if the caller may manage a webhook: a curator those of one knowledge base, an administrator all. */
function mayManage({ isAdmin, role }: Acting, { kbId }: Pick<Webhook, 'kbId'>): boolean {
  return isAdmin === true || (role === 'curator' && kbId !== null)
}

async function webhookOf({ webhooks }: Context, by: Acting, id: string): Promise<Webhook> {
  // The list has no webhook of a disabled knowledge base.
  const webhook = (await webhooks.list(by.tenantId)).find((each) => each.id === id)
  if (webhook === undefined || !mayManage(by, webhook)) throw new GanglionError('not_found')
  return webhook
}

async function summaryOf(ctx: Context, webhook: Webhook): Promise<ListedWebhook> {
  return (await summarizer(ctx, webhook.tenantId))(webhook)
}

async function summarizer(ctx: Context, tenantId: string): Promise<(webhook: Webhook) => ListedWebhook> {
  const slugs = new Map((await ctx.knowledgeBases.list(tenantId)).map(({ id, slug }) => [id, slug]))
  const { last: lastEvent } = await ctx.events.range(tenantId)
  return (webhook) => {
    const { secret: _, formerSecrets: __, tenantId: ___, ...shown } = webhook
    const { kbId } = webhook
    const formerSecretUntil = validSecrets(webhook, ctx.now()).at(-1)?.until ?? null
    return { ...shown, kb: kbId === null ? null : (slugs.get(kbId) ?? kbId), lastEvent, formerSecretUntil }
  }
}
