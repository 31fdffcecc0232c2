import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import { MeChange } from '../../contract/me.ts'
import { Email, NewPassword, PersonName } from '../../contract/people.ts'
import { clientAddress } from '../../http/access/session-cookie.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import {
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
import { FormFields } from '../layout/form.ts'
import type { Html } from '../layout/html-template.ts'
import { type ConsoleRequest, pagesOf } from '../layout/page-routes.ts'
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

const notices = {
  name: 'Your name is saved.',
  password: 'Your password is saved. Your other sessions have ended.',
  notices: 'Saved. It holds from now on.',
  session: 'The session has ended.',
  agent: 'The agent is disconnected: its tokens are refused from now on.',
  sessions: 'All your other sessions have ended.',
  tenant: 'You have changed to another tenant.',
}

export function accountRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app)

  pages.post('/sign-out', {}, async ({ visit, request, reply }) => {
    await signOut(ctx, visit.session, clientAddress(request))
    app.sessions.end(reply)
    return { to: '/sign-in?done=out' }
  })

  pages.get('/account', { notices }, (sent) => account(sent, { notice: sent.notice }))

  pages.form('/account/name', {
    body: FormFields,
    async act({ visit, request, body }) {
      await changeName(ctx, visit.session, parseSent(Name, body).name, clientAddress(request))
      return { to: '/account?done=name' }
    },
    refused: (sent, { errors }) => account(sent, { refused: { form: 'name', name: sent.body.name, errors } }),
  })

  pages.form('/account/password', {
    body: FormFields,
    async act({ visit, request, reply, body }) {
      const token = await changePassword(ctx, visit.session, parseSent(Password, body), clientAddress(request))
      if (token !== undefined) await app.sessions.begin(reply, token)
      return { to: '/account?done=password' }
    },
    refused: (sent, { errors }) => account(sent, { refused: { form: 'password', email: sent.body.email, errors } }),
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
    { visit }: Pick<ConsoleRequest, 'visit'>,
    view: Omit<AccountView, 'account' | 'sendsMail'>,
  ): Promise<Html> {
    return accountPage(visit, { account: await readAccount(ctx, visit.session), sendsMail: ctx.sendsMail, ...view })
  }
}
