import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import { Email, NewPassword, PersonName } from '../../contract/people.ts'
import type { Services } from '../../http/services.ts'
import { clientOf } from '../../http/session.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { FormFields, parseFields, refusedForm } from '../layout/refused-form.ts'
import { send } from '../layout/send.ts'
import { nextPath } from './next-path.ts'
import { setUpPage } from './set-up-page.ts'
import { type SignInView, signInPage } from './sign-in-page.ts'

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

/** Adds the pages for those who are not signed in. */
export function openRoutes(app: ZodFastify, { people }: Pick<Services, 'people'>): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    app.sessions.requireSameOrigin(request)
    await app.sessions.read(request, reply)
  })

  app.get('/sign-in', { schema: { hide: true, querystring: SignInQuery } }, async (request, reply) => {
    const next = nextPath(request.query.next)
    if (request.session !== undefined) return reply.redirect(next, 303)
    return send(reply, signInPage({ next, notice: request.query.done === 'out' && 'You are signed out.' }))
  })

  app.post('/sign-in', { bodyLimit, schema: { hide: true, body: FormFields } }, async (request, reply) => {
    const { email = '', password = '', next: asked } = request.body
    const next = nextPath(asked)
    try {
      const token = await people.signIn({ email, password }, clientOf(request))
      await enter(request, reply, token)
      return reply.redirect(next, 303)
    } catch (error) {
      return refuseSignIn(request, reply, error, { next, email })
    }
  })

  app.get('/set-up', { schema: { hide: true, querystring: LinkQuery } }, async (request, reply) => {
    const { link } = request.query
    return send(reply, setUpPage({ link, view: await people.readLink(link) }))
  })

  app.post('/set-up', { bodyLimit, schema: { hide: true, body: FormFields } }, async (request, reply) => {
    const { link = '', later } = request.body
    const view = await people.readLink(link)
    try {
      const token =
        view.kind === 'password'
          ? await people.setPasswordByLink(link, parseFields(ChosenPassword, request.body).password, clientOf(request))
          : await people.makeAdministrator(
              link,
              later === 'true'
                ? { ...parseFields(Later, request.body), password: undefined }
                : parseFields(Administrator, request.body),
              clientOf(request),
            )
      await enter(request, reply, token)
      return reply.redirect('/', 303)
    } catch (error) {
      const { status, errors } = refusedForm(error)
      if (status === 410) throw error
      return send(reply, setUpPage({ link, view, typed: request.body, errors }), status)
    }
  })

  /** Signs the browser in, in place of whoever was signed in there. */
  async function enter(request: FastifyRequest, reply: FastifyReply, token: string): Promise<void> {
    if (request.session !== undefined) await people.endOwnSession(request.session, request.session.id)
    app.sessions.begin(reply, token)
  }
}

function refuseSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  view: Omit<SignInView, 'errors'>,
): FastifyReply {
  const { status, errors } = refusedForm(error)
  request.log.info({ status, remoteAddress: request.ip }, 'sign-in refused')
  const { retryAfter } = error instanceof GanglionError ? error.details : {}
  if (typeof retryAfter !== 'number') return send(reply, signInPage({ ...view, errors }), status)
  const minutes = Math.ceil(retryAfter / 60)
  const message = `Too many failures to sign in. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
  reply.header('retry-after', retryAfter)
  return send(reply, signInPage({ ...view, errors: { formErrors: [message] } }), status)
}
