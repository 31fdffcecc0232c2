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
  type PeoplePage,
} from '../../people/manage-people.ts'
import { button, controlsOf, type FormErrors, FormFields, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { WholeNumber } from '../layout/page-query.ts'
import { type ConsoleRequest, pagesOf } from '../layout/page-routes.ts'
import { when } from '../layout/wording.ts'

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

const Invitation = z.object({ email: Email, name: PersonName, role: PersonRole })
const PersonPath = z.object({ id: z.uuid() })
const ChangePath = PersonPath.extend({ change: z.enum(['disable', 'enable', 'end-sessions']) })
const RoleForm = z.looseObject({ role: z.enum([...PersonRole.options, 'none']) })
const PeopleQuery = z.object({ after: z.string().optional() })
const AuditQuery = z.object({ before: WholeNumber.optional() })

const notices = {
  role: 'The role is changed.',
  disable: 'The person is disabled, and signed out everywhere.',
  enable: 'The person may sign in again.',
  'end-sessions': 'The person is signed out everywhere.',
}

type PersonRow = PeoplePage['people'][number]

const roleNames: Readonly<Record<PersonRole, string>> = {
  reader: 'Reader: reads, searches and asks',
  curator: 'Curator: also decides, writes and uploads',
  admin: 'Administrator: also manages people, keys and settings',
}
const roles = PersonRole.options.map((value) => ({ value, label: roleNames[value] }))
const shortRoles = PersonRole.options.map((value) => ({ value, label: value }))

type PeopleView = {
  notice?: HtmlPart
  /** A one-time link that was just made, and who it is for. */
  link?: { url: string; email: string }
  /** Fields of a rejected invitation, with its errors. */
  refused?: { typed: FormFields; errors: FormErrors }
}

export function peopleRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app, { people: 'admin' })

  pages.get('/settings/people', { query: PeopleQuery, notices }, (sent) =>
    people(sent, { notice: sent.notice }, sent.query.after),
  )

  pages.form('/settings/people', {
    body: FormFields,
    async act(sent) {
      const person = parseSent(Invitation, sent.body)
      const token = await invitePerson(ctx, by(sent), person)
      return people(sent, { link: { url: linkOf(sent, token), email: person.email } })
    },
    refused: (sent, { errors }) => people(sent, { refused: { typed: sent.body, errors } }),
  })

  pages.post('/settings/people/:id/role', { params: PersonPath, body: RoleForm }, async (sent) => {
    await changeRole(ctx, by(sent), sent.params.id, sent.body.role)
    return { to: '/settings/people?done=role' }
  })

  pages.post('/settings/people/:id/link', { params: PersonPath }, async (sent) => {
    const { email, token } = await makeResetLink(ctx, by(sent), sent.params.id)
    return people(sent, { link: { url: linkOf(sent, token), email } })
  })

  pages.post('/settings/people/:id/:change', { params: ChangePath }, async (sent) => {
    const { id, change } = sent.params
    await changePerson(ctx, by(sent), id, change)
    return { to: `/settings/people?done=${change}` }
  })

  pages.get('/settings/audit', { query: AuditQuery }, async (sent) =>
    auditPage(sent.visit, await listAudit(ctx, by(sent).tenantId, sent.query.before)),
  )

  /** Returns the address of a link: below the server's public URL, or else below that of this request. */
  function linkOf({ request: { protocol, host } }: Asked, token: string): string {
    return new URL(ctx.urls.setUp(token), `${protocol}://${host}`).href
  }

  async function people(sent: Asked, { notice, link, refused }: PeopleView, after?: string): Promise<Html> {
    const { visit } = sent
    const { people, next } = await listPeople(ctx, by(sent), after)
    const main = html`<h1>People</h1>
      <p>Who may sign in to <strong>${visit.session.tenant.slug}</strong>. <a href="/settings/audit">What they have done</a></p>
      ${link && linkShown(link)}
      <div class="scroll" tabindex="0" role="region" aria-label="People"><table class="wide">
        <thead><tr><th scope="col">Person</th><th scope="col">State</th><th scope="col">Last seen</th><th scope="col">Role</th><th scope="col">Change</th></tr></thead>
        <tbody>${people.map((person) => row(visit, person))}</tbody>
      </table></div>
      ${next !== null && html`<p><a href="/settings/people?after=${encodeURIComponent(next)}">More people</a></p>`}
      <h2>Invite somebody</h2>
      ${inviteForm(visit, refused)}`
    return page(visit, { title: 'People', main, notice })
  }
}

type Asked = Pick<ConsoleRequest, 'visit' | 'request'>

/** Returns who acts. @throws {GanglionError} `insufficient_role` */
function by({ visit, request }: Asked) {
  return administratorOf(visit.session, clientAddress(request).address)
}

function linkShown({ url, email }: { url: string; email: string }): Html {
  return html`<div class="notice" role="status">
    <p>Give this link to <strong>${email}</strong>. It works once, and is shown only now:</p>
    <p><code>${url}</code></p>
  </div>`
}

function row(visit: Visit, person: PersonRow): Html {
  const { id, email, name, role, seenAt, disabledAt } = person
  const path = `/settings/people/${id}`
  return html`<tr>
    <th scope="row"><bdi>${name}</bdi> <br>${email}</th>
    <td>${stateOf(person)}</td>
    <td>${seenAt === null ? 'not signed in' : when(seenAt)}</td>
    <td>${form(
      visit,
      { action: `${path}/role`, attributes: { class: 'row' } },
      html`<select name="role" aria-label="Role of ${email}">${shortRoles.map(
        ({ value, label }) => html`<option value="${value}"${value === role && html` selected`}>${label}</option>`,
      )}<option value="none">no role: take out of this tenant</option></select>
      ${act('Save role', email)}`,
    )}</td>
    <td><div class="row">
      ${form(visit, { action: `${path}/link` }, act('Password link', email))}
      ${form(visit, { action: `${path}/end-sessions` }, act('End sessions', email))}
      ${
        disabledAt === null
          ? form(visit, { action: `${path}/disable` }, act('Disable', email, 'danger'))
          : form(visit, { action: `${path}/enable` }, act('Enable', email))
      }
    </div></td>
  </tr>`
}

/** A button whose name tells those who cannot see its row whom it is about. */
function act(label: string, email: string, kind = 'second'): Html {
  return button(html`${label}<span class="unseen"> of ${email}</span>`, { class: kind })
}

function stateOf({ disabledAt, hasPassword, isLinked, seenAt }: PersonRow): Html {
  if (disabledAt !== null) return html`<span class="badge bad">disabled</span>`
  if (!hasPassword && !isLinked)
    return html`<span class="badge warn">${seenAt === null ? 'invited' : 'no password'}</span>`
  return html`<span class="badge good">active</span>`
}

function inviteForm(visit: Visit, { typed, errors }: Partial<PeopleView['refused']> = {}): Html {
  const { text, select } = controlsOf({ role: 'curator', ...typed }, errors)
  return form(visit, { action: '/settings/people', errors }, [
    text('email', 'E-mail', {
      hint: 'They sign in with it. No mail is sent: you pass the link on yourself.',
      ...{ type: 'email', autocomplete: 'off', required: true },
    }),
    text('name', 'Name', { autocomplete: 'off', required: true }),
    select('role', 'Role', roles),
    button('Make a link'),
  ])
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
