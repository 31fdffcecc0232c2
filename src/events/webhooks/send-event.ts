import type { WebhookDelivery } from '../../contract/administration.ts'
import type { LoggedEvent } from '../../contract/events.ts'
import type { Webhook } from '../../state/webhooks.ts'
import { type PostOptions, postMessage, type Receipt, type WebhookMessage } from './post-message.ts'

/** A receiver is told what an app may know that has sent nothing itself. */
export const receiver = { role: 'app', id: '', name: '' } as const

type Receiver = Pick<Webhook, 'id' | 'url' | 'secret'>
type Sent = Receipt & { delivery: WebhookDelivery }

/** Sends an event; the message's id is the same whenever it is sent to this webhook again. */
export async function sendEvent(webhook: Receiver, event: LoggedEvent, options: PostOptions): Promise<Sent> {
  const message = { id: `msg_${webhook.id}_${event.id}`, type: event.kind, timestamp: event.at, data: event }
  return send(webhook, message, event.id, options)
}

/** Sends a message of the type `webhook.test`. */
export async function sendTest(webhook: Receiver, messageId: string, options: PostOptions): Promise<Sent> {
  const timestamp = options.now.toISOString()
  const message = { id: `msg_${messageId}`, type: 'webhook.test', timestamp, data: { id: webhook.id } }
  return send(webhook, message, null, options)
}

async function send(
  webhook: Receiver,
  message: WebhookMessage,
  eventId: number | null,
  options: PostOptions,
): Promise<Sent> {
  const begin = performance.now()
  const receipt = await postMessage(webhook, message, options)
  const delivery = {
    eventId,
    kind: message.type,
    at: options.now.toISOString(),
    status: receipt.status ?? null,
    note: receipt.note ?? null,
    duration: Math.round(performance.now() - begin),
  }
  return { ...receipt, delivery }
}
