import type { LoggedEvent } from '../../contract/events.ts'
import type { Context } from '../../kb/context.ts'
import type { Webhook, WebhookDelivery } from '../../state/webhooks.ts'
import { EventView } from '../event-view.ts'
import type { PostOptions } from './post-message.ts'
import { isRetryDue, nextAttempt } from './retry-schedule.ts'
import { receiver, sendEvent } from './send-event.ts'

export type WebhookOptions = Omit<PostOptions, 'now' | 'signal'> & { onError: (error: unknown) => void }

const pageSize = 500
/** HTTP status with which a receiver unsubscribes. */
const gone = 410

/**
 * Delivers tenants' events to webhooks: in order, each until it is accepted, so at least once. A receiver gets what an `app` key
 * may see. A failing receiver does not delay others.
 */
export class WebhookSender {
  readonly #ctx: Context
  readonly #options: WebhookOptions
  readonly #stopping = new AbortController()
  /** Deliveries in progress, by the id of the webhook. */
  readonly #busy = new Map<string, Promise<void>>()

  constructor(ctx: Context, options: WebhookOptions) {
    this.#ctx = ctx
    this.#options = options
  }

  async deliver(): Promise<void> {
    const now = this.#ctx.now()
    for (const webhook of await this.#ctx.webhooks.list()) {
      if (
        !webhook.isEnabled ||
        !isRetryDue(webhook.dueAt, now) ||
        this.#busy.has(webhook.id) ||
        this.#stopping.signal.aborted
      )
        continue
      const sending = this.#deliverTo(webhook)
        .catch(this.#options.onError)
        .finally(() => this.#busy.delete(webhook.id))
      this.#busy.set(webhook.id, sending)
    }
    await Promise.all(this.#busy.values())
  }

  /** Aborts running deliveries. The next sender repeats them. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#busy.values())
  }

  async #deliverTo(start: Webhook): Promise<void> {
    const { events, webhooks } = this.#ctx
    let webhook = start
    const advance = async (to: number, delivery?: WebhookDelivery) => {
      const moved = await webhooks.advance(webhook, to, delivery)
      // A new secret or URL counts from the next message on.
      webhook = moved ?? webhook
      return moved !== undefined
    }
    const view = new EventView(this.#ctx, { tenantId: webhook.tenantId, ...receiver })
    const { last } = await events.range(webhook.tenantId)
    // A cursor beyond the last event was set before a backup was restored.
    if (webhook.cursor > last && !(await advance(last))) return
    while (!this.#stopping.signal.aborted) {
      const page = await events.after(webhook.tenantId, webhook.cursor, pageSize)
      for (const stored of page) {
        const [event] = await view.tell([stored])
        if (event === undefined || !wants(webhook, event)) continue
        if (this.#stopping.signal.aborted) return
        const delivery = await this.#send(webhook, event)
        if (delivery === undefined || !(await advance(event.id, delivery))) return
      }
      const end = page.at(-1)?.id
      if (end === undefined || (end > webhook.cursor && !(await advance(end)))) return
    }
  }

  /** Sends an event. @returns the delivery if the receiver has accepted it */
  async #send(webhook: Webhook, event: LoggedEvent): Promise<WebhookDelivery | undefined> {
    const { webhooks, now } = this.#ctx
    const { signal } = this.#stopping
    const options = { ...this.#options, now: now(), signal }
    const { delivery, status, note } = await sendEvent(this.#ctx, webhook, event, options)
    if (note === undefined) return delivery
    if (signal.aborted) return undefined
    const failedAt = now()
    const dueAt = status === gone ? undefined : nextAttempt(webhook.failures + 1, webhook.failingSince, failedAt)
    const isFinal = dueAt === undefined
    const said = isFinal ? `${note} It is given up; "ganglion webhook replay" begins again.` : note
    await webhooks.fail(webhook, { note: said, isFinal, dueAt: dueAt ?? failedAt }, delivery, failedAt)
    return undefined
  }
}

function wants({ kbId, kinds }: Webhook, event: LoggedEvent): boolean {
  return (kbId === null || kbId === event.kbId) && (kinds.length === 0 || kinds.includes(event.kind))
}
