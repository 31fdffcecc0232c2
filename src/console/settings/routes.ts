import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { kbPage } from '../../contract/console-paths.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { healthReports } from '../../operate/health-report.ts'
import { readOverview } from '../../operate/overview/read-overview.ts'
import { verifications } from '../../operate/verify/verifications.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { isFragment, pagesOf } from '../layout/page-routes.ts'
import { forgesRoutes } from './forges-page.ts'
import { healthPage, verification } from './health-page.ts'
import { kbLifePath, kbLifeRoutes } from './kb-life-page.ts'
import { kbSettingsRoutes } from './kb-settings-page.ts'
import { keysRoutes } from './keys-page.ts'
import { webhooksRoutes } from './webhooks-page.ts'

/** `exported`: what a knowledge base was exported to, that was deleted just now. */
const Query = z.object({
  exported: z
    .string()
    .regex(/^[\w-]{1,150}$/)
    .optional()
    .catch(undefined),
})

const places = [
  { path: '/settings/keys', label: 'API keys', text: 'For programs, and for git.' },
  { path: '/settings/people', label: 'People', text: 'Who may sign in, and what they may do.' },
  { path: '/settings/audit', label: 'Audit', text: 'What administrators have done.' },
  { path: '/settings/webhooks', label: 'Webhooks', text: 'Send what happens to other programs.' },
  { path: '/settings/forges', label: 'Forges', text: 'Which knowledge bases are reviewed as pull requests.' },
  { path: '/settings/health', label: 'Health', text: 'What is broken, sizes, backups, and a check of everything.' },
] as const

export function settingsRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app, { people: 'admin' })

  pages.get('/settings', { query: Query }, async ({ caller, visit, query }) => {
    const kbs = await readOverview(ctx, caller)
    const disabled = (await ctx.knowledgeBases.all(caller.tenantId)).filter(({ disabledAt }) => disabledAt !== null)
    return settingsPage(visit, { kbs, disabled, ...query })
  })

  pages.get('/settings/health', {}, async ({ request, caller, visit }) => {
    const report = await healthReports(ctx).read(caller)
    return isFragment(request)
      ? verification(visit, report.verification, new Date())
      : healthPage(visit, report, new Date())
  })

  pages.post('/settings/health/verify', {}, async ({ caller }) => {
    await verifications(ctx).start(caller)
    return { to: '/settings/health' }
  })

  forgesRoutes(app, ctx)
  keysRoutes(app, ctx)
  webhooksRoutes(app, ctx)
  kbSettingsRoutes(app, ctx)
  kbLifeRoutes(app, ctx)
}

type SettingsView = {
  kbs: readonly { slug: string; title: string }[]
  disabled: readonly { slug: string }[]
  exported?: string | undefined
}

function settingsPage(visit: Visit, { kbs, disabled, exported }: SettingsView): Html {
  const notice =
    exported &&
    html`The knowledge base is deleted. It was exported to <code>exports/${exported}</code> in the data directory.`
  return page(visit, {
    notice,
    title: 'Settings',
    main: html`<h1>Settings</h1>
      <ul class="cards">${places.map(
        ({ path, label, text }) =>
          html`<li class="card"><a href="${path}"><strong>${label}</strong></a><br>${text}</li>`,
      )}</ul>
      <h2>Of a knowledge base</h2>
      <p>Policy, zones, audiences, language and tone. A change is a commit. It is renamed, disabled and deleted there, too.</p>
      ${
        kbs.length === 0
          ? html`<p class="empty">There is no knowledge base yet.</p>`
          : html`<ul>${kbs.map(({ slug, title }) => html`<li><a href="${kbPage(slug)}/settings"><bdi>${title}</bdi></a></li>`)}</ul>`
      }
      ${
        disabled.length > 0 &&
        html`<h3>Disabled</h3>
          <ul>${disabled.map(({ slug }) => html`<li><a href="${kbLifePath(slug)}">${slug}</a></li>`)}</ul>`
      }`,
  })
}
