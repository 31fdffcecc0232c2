import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { ValidationError } from '../../contract/errors.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { changeKb, deleteKb, findAnyKb } from '../../operate/life-cycle.ts'
import { refusedForm } from '../layout/form.ts'
import { KbParams } from '../layout/page-query.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { type KbLifeView, kbLifePage, kbLifePath } from './kb-life-page.ts'

const notices = {
  rename: 'It is renamed.',
  disable: 'It is disabled.',
  enable: 'It is served again.',
} as const
const Query = z.object({ done: z.enum(['rename', 'disable', 'enable']).optional().catch(undefined) })
const typed = z.string().trim().max(200).default('')

export function kbLifeRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'admin' } as const
  const schema = { params: KbParams } as const
  const path = '/settings/knowledge-bases/:kb'

  app.get(path, { config, schema: { ...schema, querystring: Query } }, (request, reply) => {
    const { done } = request.query
    return sendPage(request, reply, request.params.kb, { notice: done && notices[done] })
  })

  app.post(
    `${path}/rename`,
    { config, schema: { ...schema, body: z.object({ slug: typed }) } },
    async (request, reply) => {
      const { slug } = request.body
      try {
        await changeKb(ctx, callerOf(request), await found(request, request.params.kb), { slug })
      } catch (error) {
        const { status, errors } = refusedForm(error)
        if (status === 404) throw error
        return sendPage(request, reply, request.params.kb, { typed: { slug }, errors }, status)
      }
      return reply.redirect(`${kbLifePath(slug)}?done=rename`, 303)
    },
  )

  for (const change of ['disable', 'enable'] as const) {
    app.post(`${path}/${change}`, { config, schema }, async (request, reply) => {
      const kb = await found(request, request.params.kb)
      await changeKb(ctx, callerOf(request), kb, { isDisabled: change === 'disable' })
      return reply.redirect(`${kbLifePath(kb.slug)}?done=${change}`, 303)
    })
  }

  app.post(
    `${path}/delete`,
    { config, schema: { ...schema, body: z.object({ confirm: typed }) } },
    async (request, reply) => {
      const { confirm } = request.body
      const kb = await found(request, request.params.kb)
      if (confirm !== kb.slug) {
        const errors = new ValidationError({ confirm: [`must be ${kb.slug}`] })
        return sendPage(request, reply, kb.slug, { typed: { confirm }, errors }, 400)
      }
      const exported = await deleteKb(ctx, callerOf(request), kb)
      return reply.redirect(`/settings?exported=${exported}`, 303)
    },
  )

  function found(request: FastifyRequest, kb: string) {
    return findAnyKb(ctx, callerOf(request).tenantId, kb)
  }

  async function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    kb: string,
    view: Omit<KbLifeView, 'kb'>,
    status = 200,
  ): Promise<FastifyReply> {
    return send(reply, kbLifePage(visitOf(request), { kb: await found(request, kb), ...view }), status)
  }
}
