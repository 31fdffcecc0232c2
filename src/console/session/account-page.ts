import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import { Email, MeChange, NewPassword, PersonName } from '../../contract/people.ts'
import { NoticeMode } from '../../contract/vocabulary.ts'
import { clientAddress } from '../../http/access/session-cookie.ts'
import {
  type Account,
  changeMe,
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
import { button, controlsOf, type FormErrors, FormFields, form, postButton } from '../layout/form.ts'
import { type Html, type HtmlPart, html, when } from '../layout/html-template.ts'
import { dataTable } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, consolePages } from '../layout/page-routes.ts'

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

const notices = {
  name: 'Your name is saved.',
  password: 'Your password is saved. Your other sessions have ended.',
  notices: 'Saved. It holds from now on.',
  session: 'The session has ended.',
  agent: 'The agent is disconnected: its tokens are refused from now on.',
  sessions: 'All your other sessions have ended.',
  tenant: 'You have changed to another tenant.',
}

/** A rejected form of the account page, its content, and the errors. */
type Refused = { form: 'name' | 'password'; typed: FormFields; errors: FormErrors } | undefined

export const accountRoutes = consolePages({}, (pages, ctx, app) => {
  pages.post('/sign-out', {}, async ({ visit, request, reply }) => {
    await signOut(ctx, visit.session, clientAddress(request))
    app.sessions.end(reply)
    return { to: '/sign-in?done=out' }
  })

  pages.get('/account', { notices }, (sent) => account(sent))

  pages.form('/account/name', {
    body: FormFields,
    async act({ visit, request, body }) {
      await changeName(ctx, visit.session, parseSent(Name, body).name, clientAddress(request))
      return { to: '/account?done=name' }
    },
    refused: (sent, { errors }) => account(sent, { form: 'name', typed: sent.body, errors }),
  })

  pages.form('/account/password', {
    body: FormFields,
    async act({ visit, request, reply, body }) {
      const token = await changePassword(ctx, visit.session, parseSent(Password, body), clientAddress(request))
      if (token !== undefined) await app.sessions.begin(reply, token)
      return { to: '/account?done=password' }
    },
    refused: (sent, { errors }) => account(sent, { form: 'password', typed: sent.body, errors }),
  })

  pages.post('/account/notices', { body: MeChange }, async ({ caller, body }) => {
    await changeMe(ctx, caller, body)
    return { to: '/account?done=notices' }
  })

  pages.post('/account/tenant', { body: Tenant }, async ({ visit, reply, body }) => {
    const token = await switchTenant(ctx, visit.session, body.tenant)
    if (token === undefined) throw new GanglionError('not_found')
    await app.sessions.begin(reply, token)
    return { to: '/account?done=tenant' }
  })

  pages.post('/account/sessions/:id/end', { params: SessionPath }, async ({ visit, params }) => {
    await endOwnSession(ctx, visit.session, params.id)
    return { to: '/account?done=session' }
  })

  pages.post('/account/agents/:id/end', { params: SessionPath }, async ({ caller, params }) => {
    await disconnectAgent(ctx, caller, params.id)
    return { to: '/account?done=agent' }
  })

  pages.post('/account/sessions/end-others', {}, async ({ visit, request }) => {
    await endOtherSessions(ctx, visit.session, clientAddress(request))
    return { to: '/account?done=sessions' }
  })

  pages.post('/account/filters', { body: Filter }, async ({ visit, body: { name, path } }) => {
    await saveFilter(ctx, visit.session, { name, path })
    return { to: path }
  })

  pages.post('/account/filters/remove', { body: FilterPath }, async ({ visit, body: { path } }) => {
    await removeFilter(ctx, visit.session, path)
    return { to: path }
  })

  async function account(
    { visit, notice }: Pick<ConsoleRequest, 'visit' | 'notice'>,
    refused?: Refused,
  ): Promise<Html> {
    const shown = await readAccount(ctx, visit.session)
    const main = html`<h1>Your account</h1>
      <p>You sign in as <strong>${visit.session.user.email}</strong>.</p>
      ${nameForm(visit, refused)}
      ${passwordForm(visit, shown, refused)}
      ${noticesForm(visit, shown.notices, ctx.sendsMail)}
      ${tenants(visit)}
      ${agents(visit, shown)}
      ${sessions(visit, shown)}`
    return page(visit, { title: 'Your account', main, notice })
  }
})

/** Browsers by a pattern of `User-Agent`, most specific first: most also name the browsers with which they are compatible. */
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

function nameForm(visit: Visit, refused: Refused): Html {
  const { typed, errors } = refused?.form === 'name' ? refused : {}
  const { text } = controlsOf({ name: visit.session.user.name, ...typed }, errors)
  return html`<h2>Name</h2>
    ${form(visit, { action: '/account/name', errors }, [
      text('name', 'Your name', {
        hint: 'Shown with your future decisions. Earlier entries in the history keep the old name.',
        ...{ autocomplete: 'name', required: true },
      }),
      button('Save name'),
    ])}`
}

function passwordForm(visit: Visit, { hasPassword, isLinked }: Account, refused: Refused): Html {
  const { typed, errors } = refused?.form === 'password' ? refused : {}
  const { email } = visit.session.user
  const isNew = !hasPassword && !isLinked
  const { text } = controlsOf({ email: typed?.email ?? email }, errors)
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

const noticeLabels: Readonly<Record<NoticeMode, string>> = {
  'at-once': 'A mail each, at once',
  digest: 'One mail a day',
  off: 'No mails',
}

function noticesForm(visit: Visit, notices: NoticeMode, sendsMail: boolean): Html {
  const choices = NoticeMode.options.map((mode) => [mode, noticeLabels[mode]] as const)
  return html`<h2 id="mails">Mails</h2>
    <p>For curators and administrators: what is assigned to you, what became of your changes, what waits for your approval, comments that mention you, and your pages that are past their date.</p>
    ${!sendsMail && html`<p class="hint">This server sends no mails: its operator has not set <code>GANGLION_SMTP_URL</code>.</p>`}
    ${form(visit, { action: '/account/notices' }, [controlsOf({ notices }).select('notices', 'When you get them', choices), button('Save')])}`
}

function tenants(visit: Visit): Html {
  const { tenant, tenants } = visit.session
  const change = (id: string, slug: string) =>
    postButton(visit, '/account/tenant', `Work in ${slug}`, { class: 'second' }, { tenant: id })
  const rows = tenants.map(
    ({ id, slug, role }) =>
      html`<th scope="row">${slug}</th><td>${role}</td><td>${id === tenant.id ? 'You are here' : change(id, slug)}</td>`,
  )
  return html`<h2>Where you work</h2>
    ${dataTable('Tenants', ['Tenant', 'Your role', 'Change to it'], rows)}`
}

function agents(visit: Visit, { agents }: Account): HtmlPart {
  if (agents.length === 0) return undefined
  const rows = agents.map(
    ({ id, name, role, createdAt, lastUsedAt }) =>
      html`<th scope="row"><bdi>${name}</bdi></th><td>${role === 'reader' ? 'read' : 'read and propose'}</td>
      <td>${when(createdAt)}</td><td>${lastUsedAt === null ? 'never' : when(lastUsedAt)}</td>
      <td>${postButton(visit, `/account/agents/${id}/end`, html`Disconnect <span class="unseen">${name}</span>`)}</td>`,
  )
  return html`<h2>Agents that you have connected</h2>
    ${dataTable('Agents', ['Agent', 'It may', 'Connected', 'Last used', 'Disconnect it'], rows)}`
}

function sessions(visit: Visit, { sessions }: Account): Html {
  const rows = sessions.map(({ id, agent, address, createdAt, usedAt, isThis }) => {
    const name = browserName(agent)
    const label = html`End <span class="unseen">the session of ${name} at ${address}</span>`
    return html`<th scope="row">${name}${isThis && html` <span class="badge">this one</span>`}</th>
      <td>${address}</td><td>${when(createdAt)}</td><td>${when(usedAt)}</td>
      <td>${isThis ? 'Sign out, at the top' : postButton(visit, `/account/sessions/${id}/end`, label)}</td>`
  })
  return html`<h2>Where you are signed in</h2>
    <p>A session ends 12 hours after you last use it, and after 7 days at the latest.</p>
    ${dataTable('Sessions', ['Browser', 'Address', 'Begun', 'Last used', 'End it'], rows, { class: 'wide' })}
    ${sessions.length > 1 && postButton(visit, '/account/sessions/end-others', 'End all other sessions')}`
}

/** Returns the common name of the browser and system in a `User-Agent`. */
export function browserName(agent: string): string {
  const find = (names: typeof browsers) => names.find(([pattern]) => pattern.test(agent))?.[1]
  const [browser, system] = [find(browsers) ?? 'A browser', find(systems)]
  return system === undefined ? browser : `${browser} on ${system}`
}
