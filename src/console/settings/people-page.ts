import { z } from 'zod'
import { parseSent } from '../../contract/faults.ts'
import { Email, PersonName } from '../../contract/people.ts'
import { PersonRole } from '../../contract/vocabulary.ts'
import { clientAddress } from '../../http/access/session-cookie.ts'
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
import { button, controlsOf, FormFields, form, postButton } from '../layout/form.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import { dataTable } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, countField, type FormView } from '../layout/page-routes.ts'

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
  'webhook.resumed': 'resumed the webhook',
  'webhook.rotated': 'replaced the secret of the webhook',
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
const AuditQuery = z.object({ before: countField(15).optional() })

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

export const peopleRoutes = consolePages({ people: 'admin' }, (pages, ctx) => {
  pages.formPage('/settings/people', {
    ...{ query: PeopleQuery, body: FormFields, notices, show: people },
    async act(sent) {
      const person = parseSent(Invitation, sent.body)
      return people(sent, {}, { url: linkOf(sent, await invitePerson(ctx, by(sent), person)), email: person.email })
    },
  })

  pages.post('/settings/people/:id/role', { params: PersonPath, body: RoleForm }, async (sent) => {
    await changeRole(ctx, by(sent), sent.params.id, sent.body.role)
    return { to: '/settings/people?done=role' }
  })

  pages.post('/settings/people/:id/link', { params: PersonPath }, async (sent) => {
    const { email, token } = await makeResetLink(ctx, by(sent), sent.params.id)
    return people({ ...sent, query: {} }, {}, { url: linkOf(sent, token), email })
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

  /** Renders the people of the tenant. @param link a one-time link that was just made, and for whom */
  async function people(
    sent: Asked & { query: z.output<typeof PeopleQuery> },
    { notice, typed, errors }: FormView<FormFields>,
    link?: { url: string; email: string },
  ): Promise<Html> {
    const { visit } = sent
    const { people, next } = await listPeople(ctx, by(sent), sent.query.after)
    const { text, select } = controlsOf({ role: 'curator', ...typed }, errors)
    const rows = people.map((person) => row(visit, person))
    const main = html`<h1>People</h1>
      <p>Who may sign in to <strong>${visit.session.tenant.slug}</strong>. <a href="/settings/audit">What they have done</a></p>
      ${
        link &&
        html`<div class="notice" role="status">
          <p>Give this link to <strong>${link.email}</strong>. It works once, and is shown only now:</p>
          <p><code>${link.url}</code></p>
        </div>`
      }
      ${dataTable('People', ['Person', 'State', 'Last seen', 'Role', 'Change'], rows, { class: 'wide' })}
      ${next !== null && html`<p><a href="/settings/people?after=${encodeURIComponent(next)}">More people</a></p>`}
      <h2>Invite somebody</h2>
      ${form(visit, { action: '/settings/people', errors }, [
        text('email', 'E-mail', {
          hint: 'They sign in with it. No mail is sent: you pass the link on yourself.',
          ...{ type: 'email', autocomplete: 'off', required: true },
        }),
        text('name', 'Name', { autocomplete: 'off', required: true }),
        select('role', 'Role', Object.entries(roleNames)),
        button('Make a link'),
      ])}`
    return page(visit, { title: 'People', main, notice })
  }
})

type Asked = Pick<ConsoleRequest, 'visit' | 'request'>

/** Returns the acting administrator. @throws {GanglionError} `insufficient_role` */
function by({ visit, request }: Asked) {
  return administratorOf(visit.session, clientAddress(request).address)
}

function row(visit: Visit, person: PersonRow): Html {
  const { id, email, name, role, seenAt, disabledAt } = person
  const path = `/settings/people/${id}`
  // The names of buttons contain the person, because a screen reader lists them out of their rows.
  const act = (to: string, label: string, kind = 'second') =>
    postButton(visit, `${path}/${to}`, html`${label}<span class="unseen"> of ${email}</span>`, { class: kind })
  const option = (value: PersonRole) =>
    html`<option value="${value}"${value === role && html` selected`}>${value}</option>`
  return html`<th scope="row"><bdi>${name}</bdi> <br>${email}</th>
    <td>${stateOf(person)}</td>
    <td>${seenAt === null ? 'not signed in' : when(seenAt)}</td>
    <td>${form(
      visit,
      { action: `${path}/role`, attributes: { class: 'row' } },
      html`<select name="role" aria-label="Role of ${email}">${PersonRole.options.map(option)}<option value="none">no role: take out of this tenant</option></select>
      ${button(html`Save role<span class="unseen"> of ${email}</span>`, { class: 'second' })}`,
    )}</td>
    <td><div class="row">
      ${act('link', 'Password link')}
      ${act('end-sessions', 'End sessions')}
      ${disabledAt === null ? act('disable', 'Disable', 'danger') : act('enable', 'Enable')}
    </div></td>`
}

function stateOf({ disabledAt, hasPassword, isLinked, seenAt }: PersonRow): Html {
  if (disabledAt !== null) return html`<span class="badge bad">disabled</span>`
  if (!hasPassword && !isLinked)
    return html`<span class="badge warn">${seenAt === null ? 'invited' : 'no password'}</span>`
  return html`<span class="badge good">active</span>`
}

function auditPage(visit: Visit, { entries, next }: AuditPage): Html {
  const rows = entries.map(
    ({ at, actor, action, subject, detail, address }) => html`<td>${when(at)}</td>
      <td><bdi>${actor.name}</bdi> <br><span class="hint">${actor.id}</span></td>
      <td>${phrases[action] ?? action} <strong dir="auto">${subject}</strong>${detail && html`, <span dir="auto">${detail}</span>`}</td>
      <td>${address ?? 'the server'}</td>`,
  )
  const main = html`<h1>Audit</h1>
    <p>Sign-ins and what administrators did to <strong>${visit.session.tenant.slug}</strong>. What was decided on knowledge is in its history. <a href="/settings/people">People</a></p>
    ${dataTable('Audit', ['When', 'Who', 'Did what', 'From where'], rows, { class: 'wide', empty: 'Nothing yet.' })}
    ${next !== null && html`<p><a href="/settings/audit?before=${next}">Older</a></p>`}`
  return page(visit, { title: 'Audit', main })
}
