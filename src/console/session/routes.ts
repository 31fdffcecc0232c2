import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import { MeChange } from '../../contract/me.ts'
import { Email, NewPassword, PersonName } from '../../contract/people.ts'
import { callerOf } from '../../http/access/auth.ts'
import { clientAddress } from '../../http/access/session-cookie.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import {
  changeName,
  changePassword,
  endOtherSessions,
  endOwnSession,
  readAccount,
  removeFilter,
  saveFilter,
  signOut,
  switchTenant,
} from '../../people/account.ts'
import { disconnectAgent } from '../../people/manage-api-keys.ts'
import type { Session } from '../../people/person-session.ts'
import { changeMe } from '../../people/read-me.ts'
import { FormFields, refusedForm } from '../layout/form.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { type AccountView, accountPage } from './account-page.ts'

const Name = z.object({ name: PersonName })
const Password = z.object({
  email: Email.optional(),
  current: z.string().max(2000).default(''),
  password: NewPassword,
})
const Tenant = z.looseObject({ tenant: z.string() })
const SessionPath = z.object({ id: z.string() })
const FilterPath = z.object({
  path: z
    .string()
    .max(1000)
    .regex(/^\/(?:queue|activity|search|kb\/[^/?#]+\/(?:search|sources))\?[^#\s]+$/, 'is no list that is narrowed'),
})
const Filter = FilterPath.extend({
  name: z.string().trim().min(1, 'must be given').max(60, 'must be at most 60 characters'),
})
const Done = z.looseObject({ done: z.string().optional() })

const notices: Readonly<Record<string, string>> = {
  name: 'Your name is saved.',
  password: 'Your password is saved. Your other sessions have ended.',
  notices: 'Saved. It holds from now on.',
  session: 'The session has ended.',
  agent: 'The agent is disconnected: its tokens are refused from now on.',
  sessions: 'All your other sessions have ended.',
  tenant: 'You have changed to another tenant.',
}

export function accountRoutes(app: ZodFastify, ctx: AppContext): void {
  app.post('/sign-out', async (request, reply) => {
    await signOut(ctx, sessionOf(request), clientAddress(request))
    app.sessions.end(reply)
    return reply.redirect('/sign-in?done=out', 303)
  })

  app.get('/account', { schema: { querystring: Done } }, (request, reply) =>
    sendAccount(request, reply, { notice: notices[request.query.done ?? ''] }),
  )

  app.post('/account/name', { schema: { body: FormFields } }, async (request, reply) => {
    try {
      const { name } = parseSent(Name, request.body)
      await changeName(ctx, sessionOf(request), name, clientAddress(request))
      return reply.redirect('/account?done=name', 303)
    } catch (error) {
      const { status, errors } = refusedForm(error)
      return sendAccount(request, reply, { refused: { form: 'name', name: request.body.name, errors } }, status)
    }
  })

  app.post('/account/password', { schema: { body: FormFields } }, async (request, reply) => {
    try {
      const given = parseSent(Password, request.body)
      const token = await changePassword(ctx, sessionOf(request), given, clientAddress(request))
      if (token !== undefined) await app.sessions.begin(reply, token)
      return reply.redirect('/account?done=password', 303)
    } catch (error) {
      const { status, errors } = refusedForm(error)
      return sendAccount(request, reply, { refused: { form: 'password', email: request.body.email, errors } }, status)
    }
  })

  app.post('/account/notices', { schema: { body: MeChange } }, async (request, reply) => {
    await changeMe(ctx, callerOf(request), request.body)
    return reply.redirect('/account?done=notices', 303)
  })

  app.post('/account/tenant', { schema: { body: Tenant } }, async (request, reply) => {
    const token = await switchTenant(ctx, sessionOf(request), request.body.tenant)
    if (token === undefined) throw new GanglionError('not_found')
    await app.sessions.begin(reply, token)
    return reply.redirect('/account?done=tenant', 303)
  })

  app.post('/account/sessions/:id/end', { schema: { params: SessionPath } }, async (request, reply) => {
    await endOwnSession(ctx, sessionOf(request), request.params.id)
    return reply.redirect('/account?done=session', 303)
  })

  app.post('/account/agents/:id/end', { schema: { params: SessionPath } }, async (request, reply) => {
    await disconnectAgent(ctx, callerOf(request), request.params.id)
    return reply.redirect('/account?done=agent', 303)
  })

  app.post('/account/sessions/end-others', async (request, reply) => {
    await endOtherSessions(ctx, sessionOf(request), clientAddress(request))
    return reply.redirect('/account?done=sessions', 303)
  })

  app.post('/account/filters', { schema: { body: Filter } }, async (request, reply) => {
    const { name, path } = request.body
    await saveFilter(ctx, sessionOf(request), { name, path })
    return reply.redirect(path, 303)
  })

  app.post('/account/filters/remove', { schema: { body: FilterPath } }, async (request, reply) => {
    await removeFilter(ctx, sessionOf(request), request.body.path)
    return reply.redirect(request.body.path, 303)
  })

  async function sendAccount(
    request: FastifyRequest,
    reply: FastifyReply,
    view: Omit<AccountView, 'account' | 'sendsMail'>,
    status = 200,
  ): Promise<FastifyReply> {
    const account = await readAccount(ctx, sessionOf(request))
    return send(reply, accountPage(visitOf(request), { account, sendsMail: ctx.sendsMail, ...view }), status)
  }
}

function sessionOf(request: FastifyRequest): Session {
  return visitOf(request).session
}
