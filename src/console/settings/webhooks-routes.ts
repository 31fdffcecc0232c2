import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { NewWebhook } from '../../contract/administration.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { EventKind } from '../../contract/events.ts'
import { parseSent } from '../../contract/faults.ts'
import {
  addWebhook,
  listWebhooks,
  pauseWebhook,
  readWebhook,
  removeWebhook,
  replayWebhook,
  resendEvent,
  setWebhookKinds,
  testWebhook,
} from '../../events/webhooks/manage-webhooks.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { readOverview } from '../../operate/overview/read-overview.ts'
import type { FormErrors } from '../layout/form.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { type WebhookView, webhookPage } from './webhook-page.ts'
import { type WebhooksView, webhooksPage } from './webhooks-page.ts'

/** One ticked box comes as a text, several as a list. */
const Ticked = z.union([z.string().transform((one) => [one]), z.array(z.string()).max(100)]).default([])
const Typed = z.object({
  url: z.string().default(''),
  kb: z.string().default(''),
  format: z.string().default('ganglion'),
  kinds: Ticked,
})
const Path = z.object({ id: z.uuid() })
const Kinds = z.object({ kinds: Ticked.pipe(z.array(EventKind)) })
const Replay = z.object({ from: z.string().max(20).optional() })
const Resend = z.object({ event: z.coerce.number().int().min(1).max(1e15) })
const EventNumber = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'must be the number of an event')
  .transform(Number)
const notices = { removed: 'The webhook is removed.' } as const
const changes = {
  paused: 'Nothing more is sent.',
  replayed: 'The events are sent again, within a few seconds.',
  kinds: 'Saved.',
  sent: 'Sent. The first of the deliveries says what the receiver answered.',
} as const

export function webhooksRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'admin' } as const
  const ofOne = { params: Path } as const

  app.get(
    '/settings/webhooks',
    {
      config,
      schema: { querystring: z.object({ done: z.enum(['removed']).optional().catch(undefined) }) },
    },
    async (request, reply) => sendList(request, reply, { notice: request.query.done && notices[request.query.done] }),
  )

  // No redirect: the secret must not be in an address, nor anywhere that it could be read again.
  app.post('/settings/webhooks', { config, schema: { body: Typed } }, async (request, reply) => {
    const typed = request.body
    const { kb, ...rest } = typed
    try {
      const input = parseSent(NewWebhook, { ...rest, url: rest.url.trim(), ...(kb === '' ? {} : { kb }) })
      const { secret } = await addWebhook(ctx, callerOf(request), input, { allowPrivate: ctx.webhookPrivate })
      return sendList(request, reply.header('cache-control', 'no-store'), { secret }, 201)
    } catch (error) {
      return sendList(request, reply, { typed, errors: errorsOf(error) }, 400)
    }
  })

  app.get(
    '/settings/webhooks/:id',
    {
      config,
      schema: {
        ...ofOne,
        querystring: z.object({ done: z.enum(['paused', 'replayed', 'kinds', 'sent']).optional().catch(undefined) }),
      },
    },
    async (request, reply) => {
      const { done } = request.query
      return sendOne(request, reply, request.params.id, { notice: done && changes[done] })
    },
  )

  app.post('/settings/webhooks/:id/test', { config, schema: ofOne }, async (request, reply) => {
    const { id } = request.params
    await testWebhook(ctx, callerOf(request), id, { allowPrivate: ctx.webhookPrivate })
    return reply.redirect(`/settings/webhooks/${id}?done=sent`, 303)
  })

  app.post('/settings/webhooks/:id/resend', { config, schema: { ...ofOne, body: Resend } }, async (request, reply) => {
    const { id } = request.params
    const { event: eventId } = request.body
    try {
      await resendEvent(ctx, callerOf(request), { id, eventId }, { allowPrivate: ctx.webhookPrivate })
      return reply.redirect(`/settings/webhooks/${id}?done=sent`, 303)
    } catch (error) {
      if (!(error instanceof GanglionError && error.code === 'not_found')) throw error
      return sendOne(request, reply, id, { problem: `Event ${eventId} is no longer kept.` }, 409)
    }
  })

  app.post('/settings/webhooks/:id/pause', { config, schema: ofOne }, async (request, reply) => {
    await pauseWebhook(ctx, callerOf(request), request.params.id)
    return reply.redirect(`/settings/webhooks/${request.params.id}?done=paused`, 303)
  })

  app.post('/settings/webhooks/:id/kinds', { config, schema: { ...ofOne, body: Kinds } }, async (request, reply) => {
    await setWebhookKinds(ctx, callerOf(request), request.params.id, request.body.kinds)
    return reply.redirect(`/settings/webhooks/${request.params.id}?done=kinds`, 303)
  })

  app.post('/settings/webhooks/:id/replay', { config, schema: { ...ofOne, body: Replay } }, async (request, reply) => {
    const { id } = request.params
    const typed = request.body.from?.trim()
    const from = typed === undefined ? undefined : EventNumber.safeParse(typed)
    try {
      if (from?.success === false) throw new ValidationError({ from: ['must be the number of an event'] })
      await replayWebhook(ctx, callerOf(request), id, { from: from?.data })
    } catch (error) {
      return sendOne(request, reply, id, { from: typed, errors: errorsOf(error) }, 400)
    }
    return reply.redirect(`/settings/webhooks/${id}?done=replayed`, 303)
  })

  app.post('/settings/webhooks/:id/remove', { config, schema: ofOne }, async (request, reply) => {
    await removeWebhook(ctx, callerOf(request), request.params.id)
    return reply.redirect('/settings/webhooks?done=removed', 303)
  })

  async function sendList(
    request: FastifyRequest,
    reply: FastifyReply,
    said: Omit<WebhooksView, 'webhooks' | 'kbs'>,
    status = 200,
  ): Promise<FastifyReply> {
    const caller = callerOf(request)
    const webhooks = await listWebhooks(ctx, caller)
    const kbs = await readOverview(ctx, caller)
    return send(reply, webhooksPage(visitOf(request), { webhooks, kbs, ...said }), status)
  }

  async function sendOne(
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    said: Pick<WebhookView, 'notice' | 'problem' | 'from' | 'errors'>,
    status = 200,
  ): Promise<FastifyReply> {
    const view = await readWebhook(ctx, callerOf(request), id)
    return send(reply, webhookPage(visitOf(request), { ...view, now: new Date(), ...said }), status)
  }
}

function errorsOf(error: unknown): FormErrors {
  if (error instanceof ValidationError) return error
  if (error instanceof GanglionError && error.code === 'not_found') {
    return { fieldErrors: { kb: ['is gone'] } }
  }
  throw error
}
