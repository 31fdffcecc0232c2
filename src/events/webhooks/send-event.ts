import type { LoggedEvent } from '../../contract/events.ts'
import type { Context } from '../../kb/context.ts'
import type { Webhook, WebhookDelivery } from '../../state/webhooks.ts'
import { chatBody, chatMessage } from './chat-message.ts'
import { type PostedMessage, type PostOptions, postMessage, type Receipt } from './post-message.ts'

/** A receiver is told what an app may know that has sent nothing itself. */
export const receiver = { role: 'app', id: '', name: '' } as const

type Receiver = Pick<Webhook, 'id' | 'tenantId' | 'url' | 'secret' | 'format'>
type Sent = Receipt & { delivery: WebhookDelivery }

/** Sends an event; the message's id is the same whenever it is sent to this webhook again. */
export async function sendEvent(
  ctx: Context,
  webhook: Receiver,
  event: LoggedEvent,
  options: PostOptions,
): Promise<Sent> {
  const told = { type: event.kind, timestamp: event.at, data: event }
  const body = webhook.format === 'ganglion' ? told : await chatMessage(ctx, webhook.tenantId, webhook.format, event)
  const message = { id: `msg_${webhook.id}_${event.id}`, ...body }
  return send(webhook, message, { kind: event.kind, eventId: event.id }, options)
}

/** Sends a message of the type `webhook.test`. */
export async function sendTest(webhook: Receiver, messageId: string, options: PostOptions): Promise<Sent> {
  const { format } = webhook
  const [id, kind] = [`msg_${messageId}`, 'webhook.test']
  const told = { type: kind, timestamp: options.now.toISOString(), data: { id: webhook.id } }
  const body = format === 'ganglion' ? told : chatBody(format, 'A test from Ganglion.', undefined)
  return send(webhook, { id, ...body }, { kind, eventId: null }, options)
}

async function send(
  webhook: Receiver,
  message: PostedMessage,
  about: Pick<WebhookDelivery, 'kind' | 'eventId'>,
  options: PostOptions,
): Promise<Sent> {
  const begin = performance.now()
  const receipt = await postMessage(webhook, message, options)
  const delivery = {
    ...about,
    at: options.now.toISOString(),
    status: receipt.status ?? null,
    note: receipt.note ?? null,
    duration: Math.round(performance.now() - begin),
  }
  return { ...receipt, delivery }
}
