import { z } from 'zod'
import { kbPage } from '../../contract/console-paths.ts'
import { readOverview } from '../../operate/overview/read-overview.ts'
import { html } from '../layout/html-template.ts'
import { page } from '../layout/page.ts'
import { consolePages } from '../layout/page-routes.ts'
import { kbLifePath } from './kb-life-page.ts'

/** Query of the page. `exported`: the export of a knowledge base that was just deleted. */
const Query = z.object({
  exported: z
    .string()
    .regex(/^[\w-]{1,150}$/)
    .optional()
    .catch(undefined),
})

const places = [
  ['keys', 'API keys', 'For programs, and for git.'],
  ['people', 'People', 'Who may sign in, and what they may do.'],
  ['audit', 'Audit', 'What administrators have done.'],
  ['webhooks', 'Webhooks', 'Send what happens to other programs.'],
  ['forges', 'Forges', 'Which knowledge bases are reviewed as pull requests.'],
  ['health', 'Health', 'What is broken, sizes, backups, and a check of everything.'],
] as const

export const settingsRoutes = consolePages({ people: 'admin' }, (pages, ctx) => {
  pages.get('/settings', { query: Query }, async ({ caller, visit, query: { exported } }) => {
    const kbs = await readOverview(ctx, caller)
    const disabled = (await ctx.knowledgeBases.all(caller.tenantId)).filter(({ disabledAt }) => disabledAt !== null)
    return page(visit, {
      notice:
        exported &&
        html`The knowledge base is deleted. It was exported to <code>exports/${exported}</code> in the data directory.`,
      title: 'Settings',
      main: html`<h1>Settings</h1>
        <ul class="cards">${places.map(
          ([path, label, text]) =>
            html`<li class="card"><a href="/settings/${path}"><strong>${label}</strong></a><br>${text}</li>`,
        )}</ul>
        <h2>One knowledge base</h2>
        <p>Policy, zones, audiences, language and tone. Each change is a commit. You can also rename, disable or delete the knowledge base there.</p>
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
  })
})
