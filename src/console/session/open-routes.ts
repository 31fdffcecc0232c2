import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { parseSent } from '../../contract/faults.ts'
import { Email, NewPassword, PersonName } from '../../contract/people.ts'
import { clientAddress } from '../../http/access/session-cookie.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { endOwnSession } from '../../people/account.ts'
import type { LinkPurpose } from '../../people/follow-links.ts'
import { makeAdministrator, readLink, setPasswordByLink } from '../../people/follow-links.ts'
import { signIn } from '../../people/sign-in.ts'
import { singleSignOn } from '../../people/single-sign-on.ts'
import { FormFields, refusedForm } from '../layout/refused-form.ts'
import { send } from '../layout/send.ts'
import { nextPath } from './next-path.ts'
import { refuseSignIn } from './refuse-sign-in.ts'
import { setUpPage } from './set-up-page.ts'
import { signInPage } from './sign-in-page.ts'
import { singleSignOnRoutes } from './single-sign-on-routes.ts'

/** Bytes of a form that anybody may send. */
const bodyLimit = 16 * 1024

const SignInQuery = z.looseObject({ next: z.string().optional(), done: z.string().optional() })
const LinkQuery = z.looseObject({ link: z.string().default('') })
const Administrator = z.object({ email: Email, name: PersonName, password: NewPassword })
const Later = z.object({
  email: z.preprocess((email) => email || 'admin@localhost', Email),
  name: z.preprocess((name) => name || 'Administrator', PersonName),
})
const ChosenPassword = z.object({ password: NewPassword })

export function openRoutes(app: ZodFastify, ctx: AppContext): void {
  const hasSingleSignOn = ctx.identityProvider !== undefined
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    app.sessions.requireSameOrigin(request)
    await app.sessions.read(request, reply)
  })

  app.get('/sign-in', { schema: { hide: true, querystring: SignInQuery } }, async (request, reply) => {
    const next = nextPath(request.query.next)
    if (request.session !== undefined) return reply.redirect(next, 303)
    const notice = request.query.done === 'out' && 'You are signed out.'
    return send(reply, signInPage({ next, hasSingleSignOn, notice }))
  })

  app.post('/sign-in', { bodyLimit, schema: { hide: true, body: FormFields } }, async (request, reply) => {
    const { email = '', password = '', next: asked } = request.body
    const next = nextPath(asked)
    try {
      await enter(request, reply, await signIn(ctx, { email, password }, app.sessions.clientOf(request)))
      return reply.redirect(next, 303)
    } catch (error) {
      return refuseSignIn(request, reply, error, { next, email, hasSingleSignOn })
    }
  })

  app.get('/set-up', { schema: { hide: true, querystring: LinkQuery } }, async (request, reply) => {
    const { link } = request.query
    return send(reply, setUpPage({ link, view: await readLink(ctx, link) }))
  })

  app.post('/set-up', { bodyLimit, schema: { hide: true, body: FormFields } }, async (request, reply) => {
    const { link = '' } = request.body
    const view = await readLink(ctx, link)
    try {
      await enter(request, reply, await useLink(view, link, request))
      return reply.redirect('/', 303)
    } catch (error) {
      const { status, errors } = refusedForm(error)
      if (status === 410) throw error
      return send(reply, setUpPage({ link, view, typed: request.body, errors }), status)
    }
  })

  if (ctx.identityProvider !== undefined) singleSignOnRoutes(app, singleSignOn(ctx, ctx.identityProvider), enter)

  async function useLink(
    { kind }: LinkPurpose,
    link: string,
    request: FastifyRequest<{ Body: FormFields }>,
  ): Promise<string> {
    const { body } = request
    if (kind === 'password') {
      return setPasswordByLink(ctx, link, parseSent(ChosenPassword, body).password, clientAddress(request))
    }
    const given =
      body.later === 'true' ? { ...parseSent(Later, body), password: undefined } : parseSent(Administrator, body)
    return makeAdministrator(ctx, link, given, clientAddress(request))
  }

  /** Signs the browser in, in place of whoever was signed in there. */
  async function enter(request: FastifyRequest, reply: FastifyReply, token: string): Promise<void> {
    if (request.session !== undefined) await endOwnSession(ctx, request.session, request.session.id)
    await app.sessions.begin(reply, token)
  }
}
