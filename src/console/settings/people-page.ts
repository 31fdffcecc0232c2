import { PersonRole } from '../../contract/vocabulary.ts'
import type { PeoplePage } from '../../people/manage-people.ts'
import { button, type FormErrors, type FormFields, field, form, selectField } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'

export type PeopleView = PeoplePage & {
  notice?: HtmlPart
  /** A one-time link that was just made, and who it is for. */
  link?: { url: string; email: string }
  /** What was typed into the form for an invitation, and why it was refused. */
  refused?: { typed: FormFields; errors: FormErrors }
}

type PersonRow = PeoplePage['people'][number]

const roleNames: Readonly<Record<PersonRole, string>> = {
  reader: 'Reader: reads, searches and asks',
  curator: 'Curator: also decides, writes and uploads',
  admin: 'Administrator: also manages people, keys and settings',
}
const roles = PersonRole.options.map((value) => ({ value, label: roleNames[value] }))
const shortRoles = PersonRole.options.map((value) => ({ value, label: value }))

export function peoplePage(visit: Visit, { people, next, notice, link, refused }: PeopleView): Html {
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

function inviteForm(visit: Visit, refused: PeopleView['refused']): Html {
  const { typed = {}, errors } = refused ?? {}
  return form(
    visit,
    { action: '/settings/people', errors },
    html`${field({
      name: 'email',
      label: 'E-mail',
      type: 'email',
      value: typed.email,
      errors,
      hint: 'They sign in with it. No mail is sent: you pass the link on yourself.',
      attributes: { autocomplete: 'off', required: true },
    })}
    ${field({ name: 'name', label: 'Name', value: typed.name, errors, attributes: { autocomplete: 'off', required: true } })}
    ${selectField({ name: 'role', label: 'Role', value: typed.role ?? 'curator', choices: roles, errors })}
    ${button('Make a link')}`,
  )
}
