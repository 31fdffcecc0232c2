import { Webhook } from 'standardwebhooks'
import type { GanglionEvent } from './events.ts'

/** Payload of a webhook. The data of `webhook.test` has only `id`. */
export type Delivery = { type: GanglionEvent['kind'] | 'webhook.test'; timestamp: string; data: GanglionEvent }

/** Error of a request that the server did not send, that was changed on the way, or that is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/**
 * Verifies the signature of a request and parses its body.
 * @param body unparsed text of the request body
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
