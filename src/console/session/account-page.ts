import { NoticeMode } from '../../contract/vocabulary.ts'
import type { Account } from '../../people/account.ts'
import { button, controlsOf, type FormErrors, form, selectField } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'

export type AccountView = {
  account: Account
  /** Whether the server sends mails at all. */
  sendsMail: boolean
  notice?: HtmlPart
  /** The form that was refused, what was typed into it, and why. */
  refused?: {
    form: 'name' | 'password'
    name?: string | undefined
    email?: string | undefined
    errors: FormErrors
  }
}

/** Most specific first: most browsers also name those that they are compatible with. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Chromium|Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

export function accountPage(visit: Visit, { account, sendsMail, notice, refused }: AccountView): Html {
  const main = html`<h1>Your account</h1>
    <p>You sign in as <strong>${visit.session.user.email}</strong>.</p>
    ${nameForm(visit, refused)}
    ${passwordForm(visit, account, refused)}
    ${noticesForm(visit, account.notices, sendsMail)}
    ${tenants(visit)}
    ${agents(visit, account)}
    ${sessions(visit, account)}`
  return page(visit, { title: 'Your account', main, notice })
}

function nameForm(visit: Visit, refused: AccountView['refused']): Html {
  const errors = refused?.form === 'name' ? refused.errors : undefined
  const { text } = controlsOf({ name: refused?.name ?? visit.session.user.name }, errors)
  return html`<h2>Name</h2>
    ${form(visit, { action: '/account/name', errors }, [
      text('name', 'Your name', {
        hint: 'It stands beside what you decide from now on. What is in the history stays.',
        ...{ autocomplete: 'name', required: true },
      }),
      button('Save name'),
    ])}`
}

function passwordForm(visit: Visit, { hasPassword, isLinked }: Account, refused: AccountView['refused']): Html {
  const errors = refused?.form === 'password' ? refused.errors : undefined
  const { email } = visit.session.user
  const isNew = !hasPassword && !isLinked
  const { text } = controlsOf({ email: refused?.email ?? email }, errors)
  return html`<h2>${isNew ? 'E-mail and password' : 'Password'}</h2>
    ${isNew && html`<p class="warning">You have no password yet. Without one, you cannot sign in again once this session has ended.</p>`}
    ${isLinked && html`<p>You sign in with single sign-on. A password is another way in.</p>`}
    ${form(visit, { action: '/account/password', errors }, [
      isNew
        ? text('email', 'E-mail', {
            hint: 'You sign in with it. No mail is sent.',
            ...{ type: 'email', autocomplete: 'username', required: true },
          })
        : html`<input type="hidden" name="username" value="${email}" autocomplete="username">`,
      hasPassword &&
        text('current', 'Current password', { type: 'password', autocomplete: 'current-password', required: true }),
      text('password', 'New password', {
        hint: 'At least 12 characters. Three or four unrelated words are easy to remember. Your other sessions end.',
        ...{ type: 'password', autocomplete: 'new-password', required: true, minlength: 12 },
      }),
      button(hasPassword ? 'Change password' : 'Set password'),
    ])}`
}

const noticeLabels = { 'at-once': 'A mail each, at once', digest: 'One mail a day', off: 'No mails' } as const

function noticesForm(visit: Visit, value: NoticeMode, sendsMail: boolean): Html {
  const choices = NoticeMode.options.map((mode) => ({ value: mode, label: noticeLabels[mode] }))
  return html`<h2 id="mails">Mails</h2>
    <p>For curators and administrators: what is assigned to you, what became of your changes, what waits for your approval, comments that mention you, and your pages that are past their date.</p>
    ${!sendsMail && html`<p class="hint">This server sends no mails: its operator has not set <code>GANGLION_SMTP_URL</code>.</p>`}
    ${form(visit, { action: '/account/notices' }, [selectField({ name: 'notices', label: 'When you get them', value, choices }), button('Save')])}`
}

function tenants(visit: Visit): Html {
  const { tenant, tenants } = visit.session
  return html`<h2>Where you work</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Tenants"><table>
      <thead><tr><th scope="col">Tenant</th><th scope="col">Your role</th><th scope="col">Change to it</th></tr></thead>
      <tbody>${tenants.map(
        ({ id, slug, role }) =>
          html`<tr><th scope="row">${slug}</th><td>${role}</td><td>${
            id === tenant.id
              ? 'You are here'
              : form(
                  visit,
                  { action: '/account/tenant' },
                  html`<input type="hidden" name="tenant" value="${id}">${button(html`Work in ${slug}`, { class: 'second' })}`,
                )
          }</td></tr>`,
      )}</tbody>
    </table></div>`
}

function agents(visit: Visit, { agents }: Account): HtmlPart {
  if (agents.length === 0) return undefined
  return html`<h2>Agents that you have connected</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Agents"><table>
      <thead><tr><th scope="col">Agent</th><th scope="col">It may</th><th scope="col">Connected</th><th scope="col">Last used</th><th scope="col">Disconnect it</th></tr></thead>
      <tbody>${agents.map(
        ({ id, name, role, createdAt, lastUsedAt }) => html`<tr>
          <th scope="row"><bdi>${name}</bdi></th><td>${role === 'reader' ? 'read' : 'read and propose'}</td>
          <td>${when(createdAt)}</td><td>${lastUsedAt === null ? 'never' : when(lastUsedAt)}</td>
          <td>${form(visit, { action: `/account/agents/${id}/end` }, button(html`Disconnect <span class="unseen">${name}</span>`, { class: 'second' }))}</td>
        </tr>`,
      )}</tbody>
    </table></div>`
}

function sessions(visit: Visit, { sessions }: Account): Html {
  return html`<h2>Where you are signed in</h2>
    <p>A session ends 12 hours after you last use it, and after 7 days at the latest.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Sessions"><table class="wide">
      <thead><tr><th scope="col">Browser</th><th scope="col">Address</th><th scope="col">Begun</th><th scope="col">Last used</th><th scope="col">End it</th></tr></thead>
      <tbody>${sessions.map(
        ({ id, agent, address, createdAt, usedAt, isThis }) => html`<tr>
          <th scope="row">${browserName(agent)}${isThis && html` <span class="badge">this one</span>`}</th>
          <td>${address}</td><td>${when(createdAt)}</td><td>${when(usedAt)}</td>
          <td>${isThis ? 'Sign out, at the top' : form(visit, { action: `/account/sessions/${id}/end` }, button(html`End <span class="unseen">the session of ${browserName(agent)} at ${address}</span>`, { class: 'second' }))}</td>
        </tr>`,
      )}</tbody>
    </table></div>
    ${sessions.length > 1 && form(visit, { action: '/account/sessions/end-others' }, button('End all other sessions', { class: 'second' }))}`
}

/** Returns the common name of the browser and system in a `User-Agent`. */
export function browserName(agent: string): string {
  const find = (names: typeof browsers) => names.find(([pattern]) => pattern.test(agent))?.[1]
  const [browser, system] = [find(browsers) ?? 'A browser', find(systems)]
  return system === undefined ? browser : `${browser} on ${system}`
}
