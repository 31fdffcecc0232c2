import { Webhook } from 'standardwebhooks'
import type { GanglionEvent } from './events.ts'

/** What a webhook delivers. Only `id` is in the data of `webhook.test`. */
export type Delivery = { type: GanglionEvent['kind'] | 'webhook.test'; timestamp: string; data: GanglionEvent }

/** The request does not come from the server, was changed, or is old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/**
 * Checks the signature of a request, and reads it.
 * @param body as it came, before it is parsed
 * @param secret `whsec_…`
 * @throws {WebhookVerificationError}
 */
export function verify(
  body: string,
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>,
  secret: string,
): Delivery {
  const entries = headers instanceof Headers ? headers : Object.entries(headers)
  const webhook = new Webhook(secret)
  try {
    return webhook.verify(
      body,
      Object.fromEntries(Array.from(entries, ([name, value]) => [name, String(value)])),
    ) as Delivery
  } catch (cause) {
    throw new WebhookVerificationError('The request is not a delivery of this webhook.', { cause })
  }
}
