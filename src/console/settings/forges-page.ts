import { z } from 'zod'
import { type LinkSummary, listForgeLinks, unlinkForge } from '../../forge/bridge/manage-links.ts'
import { confirmedButton } from '../layout/form.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import { actionsHeading, dataTable } from '../layout/list-parts.ts'
import { page } from '../layout/page.ts'
import { consolePages } from '../layout/page-routes.ts'

const Path = z.object({ kb: z.string().max(200) })
const notices = { unlinked: 'The link is gone. Both sides stay as they are.' }

export const forgesRoutes = consolePages({ people: 'admin' }, (pages, ctx) => {
  pages.get('/settings/forges', { notices }, async ({ visit, caller, notice }) => {
    const links = await listForgeLinks(ctx, caller.tenantId)
    const rows = links.map(
      (link) => html`<th scope="row">${link.kb}</th>
        <td><a href="${link.url}" rel="noreferrer">${link.url}</a></td>
        <td>${link.open} of ${link.maxOpen}</td>
        <td>${link.syncedAt === null ? 'never' : when(link.syncedAt)}</td>
        <td>${stateOf(link)}</td>
        <td>${confirmedButton(visit, `/settings/forges/${encodeURIComponent(link.kb)}/unlink`, ['Unlink…', html`Unlink<span class="unseen"> ${link.kb}</span> now`])}</td>`,
    )
    const headings = ['Knowledge base', 'Repository', 'Pull requests', 'Compared', 'State', actionsHeading]
    return page(visit, {
      title: 'Forges',
      notice,
      main: html`<h1>Forges</h1>
        <p>Candidates of a linked knowledge base are pull requests of a repository, and what is merged there is approved here.
          If it is unlinked, both sides stay as they are.</p>
        ${dataTable('Links', headings, rows, { empty: 'No knowledge base is linked.' })}
        ${links.map(({ kb, warning }) => warning !== null && html`<p class="warning">${kb}: ${warning}</p>`)}
        ${links.map(
          ({ kb, eventsUrl }) =>
            eventsUrl !== null &&
            html`<p class="hint">Webhooks of the repository of ${kb} go to <code>${eventsUrl}</code>, as JSON.</p>`,
        )}
        <p>The operator of this server makes links with <code>ganglion forge link</code>.</p>`,
    })
  })

  pages.post('/settings/forges/:kb/unlink', { params: Path }, async ({ caller, params }) => {
    await unlinkForge(ctx, caller, params.kb)
    return { to: '/settings/forges?done=unlinked' }
  })
})

function stateOf({ failingSince, note, eventsUrl }: LinkSummary): Html {
  if (failingSince !== null) return html`fails since ${when(failingSince)}: ${note ?? ''}`
  if (note !== null) return html`${note}`
  return eventsUrl === null ? html`well, looked at once a minute` : html`well`
}
