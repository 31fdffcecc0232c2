import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { parseSent } from '../../contract/faults.ts'
import { Email, PersonName } from '../../contract/people.ts'
import { PersonRole } from '../../contract/vocabulary.ts'
import { clientAddress } from '../../http/access/session-cookie.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { type AuditPage, listAudit } from '../../kb/access/audit.ts'
import {
  administratorOf,
  changePerson,
  changeRole,
  invitePerson,
  listPeople,
  makeResetLink,
} from '../../people/manage-people.ts'
import type { Session } from '../../people/person-session.ts'
import { FormFields, refusedForm } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { when } from '../layout/wording.ts'
import { type PeopleView, peoplePage } from './people-page.ts'

const phrases: Readonly<Record<string, string>> = {
  'user.signed-in': 'signed in',
  'user.signed-out': 'signed out',
  'user.invited': 'invited',
  'user.renamed': 'changed the name of',
  'user.role-changed': 'changed the role of',
  'user.disabled': 'disabled',
  'user.enabled': 'enabled',
  'user.sessions-ended': 'ended the sessions of',
  'user.link-made': 'made a password link for',
  'user.password-changed': 'changed the password of',
  'key.created': 'made the API key',
  'key.revoked': 'revoked the API key',
  'webhook.added': 'added the webhook',
  'webhook.changed': 'changed the webhook',
  'webhook.paused': 'paused the webhook',
  'webhook.removed': 'removed the webhook',
  'webhook.replayed': 'sent events again to the webhook',
  'settings.changed': 'changed the settings of',
  'kb.created': 'made the knowledge base',
  'kb.renamed': 'renamed the knowledge base',
  'kb.disabled': 'disabled the knowledge base',
  'kb.enabled': 'enabled the knowledge base',
  'kb.deleted': 'deleted the knowledge base',
  'tenant.renamed': 'renamed the tenant',
  'tenant.bounded': 'set the quotas of the tenant',
  'tenant.disabled': 'disabled the tenant',
  'tenant.enabled': 'enabled the tenant',
}

const admins = { people: 'admin' } as const
const Invitation = z.object({ email: Email, name: PersonName, role: PersonRole })
const PersonPath = z.object({ id: z.uuid() })
const ChangePath = z.object({ id: z.uuid(), change: z.enum(['disable', 'enable', 'end-sessions']) })
const RoleForm = z.looseObject({ role: z.enum([...PersonRole.options, 'none']) })
const PeopleQuery = z.looseObject({ after: z.string().optional(), done: z.string().optional() })
const AuditQuery = z.looseObject({
  before: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/, 'must be a number')
    .transform(Number)
    .optional(),
})

const notices: Readonly<Record<string, string>> = {
  role: 'The role is changed.',
  disable: 'The person is disabled, and signed out everywhere.',
  enable: 'The person may sign in again.',
  'end-sessions': 'The person is signed out everywhere.',
}

export function peopleRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get('/settings/people', { config: admins, schema: { querystring: PeopleQuery } }, (request, reply) =>
    sendPeople(request, reply, { notice: notices[request.query.done ?? ''] }, request.query.after),
  )

  app.post('/settings/people', { config: admins, schema: { body: FormFields } }, async (request, reply) => {
    try {
      const person = parseSent(Invitation, request.body)
      const url = ctx.urls.setUp(await invitePerson(ctx, by(request), person))
      return await sendPeople(request, reply, { link: { url: absolute(request, url), email: person.email } })
    } catch (error) {
      const { status, errors } = refusedForm(error)
      return sendPeople(request, reply, { refused: { typed: request.body, errors } }, undefined, status)
    }
  })

  app.post(
    '/settings/people/:id/role',
    { config: admins, schema: { params: PersonPath, body: RoleForm } },
    async (request, reply) => {
      await changeRole(ctx, by(request), request.params.id, request.body.role)
      return reply.redirect('/settings/people?done=role', 303)
    },
  )

  app.post('/settings/people/:id/link', { config: admins, schema: { params: PersonPath } }, async (request, reply) => {
    const { email, token } = await makeResetLink(ctx, by(request), request.params.id)
    const url = ctx.urls.setUp(token)
    return sendPeople(request, reply, { link: { url: absolute(request, url), email } })
  })

  app.post(
    '/settings/people/:id/:change',
    { config: admins, schema: { params: ChangePath } },
    async (request, reply) => {
      const { id, change } = request.params
      await changePerson(ctx, by(request), id, change)
      return reply.redirect(`/settings/people?done=${change}`, 303)
    },
  )

  app.get('/settings/audit', { config: admins, schema: { querystring: AuditQuery } }, async (request, reply) => {
    const entries = await listAudit(ctx, by(request).tenantId, request.query.before)
    return send(reply, auditPage(visitOf(request), entries))
  })

  async function sendPeople(
    request: FastifyRequest,
    reply: FastifyReply,
    view: Omit<PeopleView, 'people' | 'next'>,
    after?: string,
    status = 200,
  ): Promise<FastifyReply> {
    const listed = await listPeople(ctx, by(request), after)
    return send(reply, peoplePage(visitOf(request), { ...listed, ...view }), status)
  }
}

function sessionOf(request: FastifyRequest): Session {
  return visitOf(request).session
}

/** The server knows its public URL, or else how it was reached now. */
function absolute({ protocol, host }: FastifyRequest, url: string): string {
  return new URL(url, `${protocol}://${host}`).href
}

/** Who acts. @throws {GanglionError} `insufficient_role` */
function by(request: FastifyRequest) {
  return administratorOf(sessionOf(request), clientAddress(request).address)
}

function auditPage(visit: Visit, { entries, next }: AuditPage): Html {
  const main = html`<h1>Audit</h1>
    <p>Sign-ins and what administrators did to <strong>${visit.session.tenant.slug}</strong>. What was decided on knowledge is in its history. <a href="/settings/people">People</a></p>
    ${
      entries.length === 0
        ? html`<p>Nothing yet.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Audit"><table class="wide">
      <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">Did what</th><th scope="col">From where</th></tr></thead>
      <tbody>${entries.map(
        ({ at, actor, action, subject, detail, address }) => html`<tr>
          <td>${when(at)}</td>
          <td><bdi>${actor.name}</bdi> <br><span class="hint">${actor.id}</span></td>
          <td>${phrases[action] ?? action} <strong dir="auto">${subject}</strong>${detail && html`, <span dir="auto">${detail}</span>`}</td>
          <td>${address ?? 'the server'}</td>
        </tr>`,
      )}</tbody>
    </table></div>`
    }
    ${next !== null && html`<p><a href="/settings/audit?before=${next}">Older</a></p>`}`
  return page(visit, { title: 'Audit', main })
}
