import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { KeyLimits, limitsOrNone, NewApiKey } from '../../contract/administration.ts'
import { GanglionError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { createApiKey, limitApiKey, listApiKeys, revokeApiKey } from '../../people/manage-api-keys.ts'
import { refusedForm } from '../layout/form.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { keyLimitsPage, keysPage } from './keys-page.ts'

const dayMs = 86_400_000
const TypedLimits = z.object({
  pending: z.string().default(''),
  approved: z.string().default(''),
  paths: z.string().default(''),
  tags: z.string().default(''),
})
const KeyPath = z.object({ id: z.uuid() })
const Typed = TypedLimits.extend({
  name: z.string().default(''),
  role: z.string().default(''),
  connectors: z.string().default(''),
  git: z.string().default(''),
  audience: z.string().default(''),
  expires: z.string().default(''),
})
const Expires = z.enum(['30', '90', '365', 'never'], 'must be one of the choices')
const Query = z.object({
  before: z.uuid().optional().catch(undefined),
  done: z.enum(['revoked', 'limited']).optional().catch(undefined),
})

const notices = {
  revoked: 'The key is revoked: it is refused from now on.',
  limited: 'The limits hold from now on.',
}

/** Adds the page of the API keys. */
export function keysRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'admin' } as const

  app.get('/settings/keys', { config, schema: { querystring: Query } }, async (request, reply) => {
    const { before, done } = request.query
    const list = await listApiKeys(ctx, callerOf(request), { before })
    const notice = done && notices[done]
    return send(reply, keysPage(visitOf(request), { list, now: new Date(), notice }))
  })

  // No redirect: the token must not be in an address, nor anywhere that it could be read again.
  app.post('/settings/keys', { config, schema: { body: Typed } }, async (request, reply) => {
    const caller = callerOf(request)
    const typed = request.body
    const now = new Date()
    try {
      const { token } = await createApiKey(ctx, caller, read(typed, now))
      const list = await listApiKeys(ctx, caller, {})
      return send(reply.header('cache-control', 'no-store'), keysPage(visitOf(request), { list, now, token }), 201)
    } catch (error) {
      const { status, errors } = refusedForm(error)
      return send(
        reply,
        keysPage(visitOf(request), { list: await listApiKeys(ctx, caller, {}), now, typed, errors }),
        status,
      )
    }
  })

  app.post('/settings/keys/:id/revoke', { config, schema: { params: KeyPath } }, async (request, reply) => {
    await revokeApiKey(ctx, callerOf(request), request.params.id)
    return reply.redirect('/settings/keys?done=revoked', 303)
  })

  app.get('/settings/keys/:id/limits', { config, schema: { params: KeyPath } }, async (request, reply) => {
    const { id, name, limits } = await keyOf(request.params.id, callerOf(request).tenantId)
    return send(reply, keyLimitsPage(visitOf(request), { id, name, typed: shownLimits(limits) }))
  })

  app.post(
    '/settings/keys/:id/limits',
    { config, schema: { params: KeyPath, body: TypedLimits } },
    async (request, reply) => {
      const { id, name } = await keyOf(request.params.id, callerOf(request).tenantId)
      try {
        await limitApiKey(ctx, callerOf(request), id, parseSent(KeyLimits, readLimits(request.body)))
        return reply.redirect('/settings/keys?done=limited', 303)
      } catch (error) {
        const { status, errors } = refusedForm(error)
        return send(reply, keyLimitsPage(visitOf(request), { id, name, typed: request.body, errors }), status)
      }
    },
  )

  async function keyOf(id: string, tenantId: string) {
    const key = await ctx.apiKeys.find(id)
    if (key?.tenantId !== tenantId) throw new GanglionError('not_found')
    return key
  }
}

function readLimits({ pending, approved, paths, tags }: z.infer<typeof TypedLimits>) {
  const count = (text: string) => (text.trim() === '' ? null : Number(text))
  return { pending: count(pending), approved: count(approved), paths: linesOf(paths), tags: linesOf(tags) }
}

function shownLimits(limits: KeyLimits | null): z.infer<typeof TypedLimits> {
  const count = (limit: number | null = null) => (limit === null ? '' : String(limit))
  const { paths = [], tags = [] } = limits ?? {}
  return {
    pending: count(limits?.pending),
    approved: count(limits?.approved),
    paths: paths.join('\n'),
    tags: tags.join('\n'),
  }
}

function linesOf(text: string): string[] {
  return [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '')
}

function read({ name, role, connectors, git, audience, expires, ...limits }: z.infer<typeof Typed>, now: Date) {
  const days = Expires.safeParse(expires)
  const asked = {
    name: name.trim(),
    role,
    connectors: linesOf(connectors),
    git: git === '' ? 'shown' : 'all',
    audience: audience === '' ? null : audience,
    expires,
    ...readLimits(limits),
    expiresAt: days.success && days.data !== 'never' ? new Date(now.getTime() + Number(days.data) * dayMs) : null,
  }
  const { pending, approved, paths, tags, ...key } = parseSent(
    NewApiKey.omit({ limits: true }).extend({ ...KeyLimits.shape, expires: Expires }),
    asked,
  )
  return { ...key, limits: limitsOrNone({ pending, approved, paths, tags }) }
}
