import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { ValidationError } from '../../contract/errors.ts'
import { linkAsOffered, listOfferedCredentials } from '../../forge/bridge/link-as-offered.ts'
import { listForgeLinks, publicWarning, unlinkForge } from '../../forge/bridge/manage-links.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { readOverview } from '../../operate/overview/read-overview.ts'
import { send } from '../layout/send.ts'
import { visitOf } from '../layout/visit.ts'
import { type ForgesView, forgesPage, mostOpen } from './forges-page.ts'

const text = z.string().max(500).default('')
const Typed = z.object({ kb: text, credential: text, url: text, maxOpen: text })
const MaxOpen = z.coerce.number().int().min(1).max(mostOpen)
const Path = z.object({ kb: z.string().max(200) })
const notices = {
  linked: 'Linked. Both sides are compared within a few seconds.',
  public: `Linked. ${publicWarning}`,
  unlinked: 'The link is gone. Both sides stay as they are.',
} as const

export function forgesRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'admin' } as const
  const Query = z.object({ done: z.enum(['linked', 'public', 'unlinked']).optional().catch(undefined) })

  app.get('/settings/forges', { config, schema: { hide: true, querystring: Query } }, async (request, reply) => {
    const { done } = request.query
    return sendPage(request, reply, { notice: done && notices[done] })
  })

  app.post('/settings/forges', { config, schema: { hide: true, body: Typed } }, async (request, reply) => {
    const typed = request.body
    let isPublic = false
    try {
      const maxOpen = MaxOpen.safeParse(typed.maxOpen)
      if (!maxOpen.success) throw new ValidationError({ maxOpen: [`must be a number from 1 to ${mostOpen}`] })
      ;({ isPublic } = await linkAsOffered(
        ctx,
        callerOf(request),
        { offered: ctx.forgeCredentials, env: process.env },
        { ...typed, maxOpen: maxOpen.data },
      ))
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error
      return sendPage(request, reply, { typed, errors: error }, 400)
    }
    return reply.redirect(`/settings/forges?done=${isPublic ? 'public' : 'linked'}`, 303)
  })

  app.post('/settings/forges/:kb/unlink', { config, schema: { hide: true, params: Path } }, async (request, reply) => {
    await unlinkForge(ctx, callerOf(request), request.params.kb)
    return reply.redirect('/settings/forges?done=unlinked', 303)
  })

  async function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    said: Pick<ForgesView, 'notice' | 'typed' | 'errors'>,
    status = 200,
  ): Promise<FastifyReply> {
    const caller = callerOf(request)
    const links = await listForgeLinks(ctx, caller.tenantId)
    const linked = new Set(links.map(({ kb }) => kb))
    const kbs = (await readOverview(ctx, caller)).filter(({ slug }) => !linked.has(slug))
    const credentials = await listOfferedCredentials(ctx, caller, ctx.forgeCredentials)
    return send(reply, forgesPage(visitOf(request), { links, kbs, credentials, now: new Date(), ...said }), status)
  }
}
