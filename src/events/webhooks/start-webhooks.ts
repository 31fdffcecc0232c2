import type { Context } from '../../kb/context.ts'
import { openSome } from '../../kb/kb-access.ts'
import { type WebhookOptions, WebhookSender } from './webhook-sender.ts'

/** Milliseconds between two checks for due deliveries, and for changes made on the command line. */
const intervalMs = 5_000

/** Sends events as they happen. @returns a function that stops it and aborts running deliveries */
export function startWebhooks(ctx: Context, options: WebhookOptions): () => Promise<void> {
  const sender = new WebhookSender(ctx, options)
  const followed = new Set<string>()
  const stopping = new AbortController()
  const { signal } = stopping
  const follow = async () => {
    if (signal.aborted) return
    const tenants = new Set((await ctx.webhooks.list()).map(({ tenantId }) => tenantId))
    for (const tenantId of tenants) {
      if (followed.has(tenantId)) continue
      followed.add(tenantId)
      await openSome(ctx, tenantId)
      listen(tenantId).catch(options.onError)
    }
    await sender.deliver()
  }
  const listen = async (tenantId: string) => {
    for (;;) {
      const seen = ctx.events.arrivals(tenantId)
      await ctx.events.arrival(tenantId, seen, signal)
      if (signal.aborted) return
      sender.deliver().catch(options.onError)
    }
  }
  const followSoon = () => follow().catch(options.onError)
  const timer = setInterval(followSoon, intervalMs)
  followSoon()
  return async () => {
    stopping.abort()
    clearInterval(timer)
    await sender.stop()
  }
}
