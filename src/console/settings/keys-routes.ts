import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { NewApiKey } from '../../contract/administration.ts'
import { parseSent } from '../../contract/faults.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { createApiKey, listApiKeys, revokeApiKey } from '../../people/manage-api-keys.ts'
import { refusedForm } from '../layout/refused-form.ts'
import { send } from '../layout/send.ts'
import { visitOf } from '../layout/visit.ts'
import { keysPage } from './keys-page.ts'

const dayMs = 86_400_000
const Typed = z.object({
  name: z.string().default(''),
  role: z.string().default(''),
  connectors: z.string().default(''),
  git: z.string().default(''),
  expires: z.string().default(''),
})
const Expires = z.enum(['30', '90', '365', 'never'], 'must be one of the choices')
const Query = z.object({
  before: z.uuid().optional().catch(undefined),
  done: z.literal('revoked').optional().catch(undefined),
})

/** Adds the page of the API keys. */
export function keysRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'admin' } as const

  app.get('/settings/keys', { config, schema: { hide: true, querystring: Query } }, async (request, reply) => {
    const { before, done } = request.query
    const list = await listApiKeys(ctx, callerOf(request), { before })
    const notice = done && 'The key is revoked: it is refused from now on.'
    return send(reply, keysPage(visitOf(request), { list, now: new Date(), notice }))
  })

  // No redirect: the token must not be in an address, nor anywhere that it could be read again.
  app.post('/settings/keys', { config, schema: { hide: true, body: Typed } }, async (request, reply) => {
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

  app.post(
    '/settings/keys/:id/revoke',
    { config, schema: { hide: true, params: z.object({ id: z.uuid() }) } },
    async (request, reply) => {
      await revokeApiKey(ctx, callerOf(request), request.params.id)
      return reply.redirect('/settings/keys?done=revoked', 303)
    },
  )
}

function read({ name, role, connectors, git, expires }: z.infer<typeof Typed>, now: Date) {
  const days = Expires.safeParse(expires)
  const asked = {
    name: name.trim(),
    role,
    connectors: [...new Set(connectors.split('\n').map((line) => line.trim()))].filter((line) => line !== ''),
    git: git === '' ? 'shown' : 'all',
    expires,
    expiresAt: days.success && days.data !== 'never' ? new Date(now.getTime() + Number(days.data) * dayMs) : null,
  }
  return parseSent(NewApiKey.extend({ expires: Expires }), asked)
}
