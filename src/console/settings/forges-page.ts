import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { type LinkSummary, listForgeLinks, unlinkForge } from '../../forge/bridge/manage-links.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { button, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { pagesOf } from '../layout/page-routes.ts'
import { when } from '../layout/wording.ts'

const Path = z.object({ kb: z.string().max(200) })
const notices = { unlinked: 'The link is gone. Both sides stay as they are.' }

export function forgesRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app, { people: 'admin' })

  pages.get('/settings/forges', { notices }, async ({ visit, caller, notice }) => {
    const links = await listForgeLinks(ctx, caller.tenantId)
    return page(visit, {
      title: 'Forges',
      notice,
      main: html`<h1>Forges</h1>
        <p>Candidates of a linked knowledge base are pull requests of a repository, and what is merged there is approved here.
          If it is unlinked, both sides stay as they are.</p>
        ${links.length === 0 ? html`<p class="empty">No knowledge base is linked.</p>` : table(visit, links, new Date())}
        <p>The operator of this server makes links with <code>ganglion forge link</code>.</p>`,
    })
  })

  pages.post('/settings/forges/:kb/unlink', { params: Path }, async ({ caller, params }) => {
    await unlinkForge(ctx, caller, params.kb)
    return { to: '/settings/forges?done=unlinked' }
  })
}

function table(visit: Visit, links: readonly LinkSummary[], now: Date): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Links"><table>
    <thead><tr><th scope="col">Knowledge base</th><th scope="col">Repository</th><th scope="col">Pull requests</th>
      <th scope="col">Compared</th><th scope="col">State</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
    <tbody>${links.map(
      (link) => html`<tr>
        <th scope="row">${link.kb}</th>
        <td><a href="${link.url}" rel="noreferrer">${link.url}</a></td>
        <td>${link.open} of ${link.maxOpen}</td>
        <td>${link.syncedAt === null ? 'never' : when(link.syncedAt, now)}</td>
        <td>${stateOf(link, now)}</td>
        <td><details><summary>Unlink…</summary>${form(
          visit,
          { action: `/settings/forges/${encodeURIComponent(link.kb)}/unlink` },
          button(html`Unlink<span class="unseen"> ${link.kb}</span> now`, { class: 'danger' }),
        )}</details></td>
      </tr>`,
    )}</tbody></table></div>
    ${links.map(({ kb, warning }) => warning !== null && html`<p class="warning">${kb}: ${warning}</p>`)}
    ${links.map(
      ({ kb, eventsUrl }) =>
        eventsUrl !== null &&
        html`<p class="hint">Webhooks of the repository of ${kb} go to <code>${eventsUrl}</code>, as JSON.</p>`,
    )}`
}

function stateOf({ failingSince, note, eventsUrl }: LinkSummary, now: Date): Html {
  if (failingSince !== null) return html`fails since ${when(failingSince, now)}: ${note ?? ''}`
  if (note !== null) return html`${note}`
  return eventsUrl === null ? html`well, looked at once a minute` : html`well`
}
