import type { LinkSummary } from '../../services/forge/manage-links.ts'
import { type Html, html } from '../layout/html.ts'
import { page } from '../layout/page.ts'
import type { Visit } from '../layout/visit.ts'
import { when } from '../layout/when.ts'

/** Which knowledge bases are linked to repositories on forges, and how the links stand. */
export function forgesPage(visit: Visit, links: readonly LinkSummary[], now: Date): Html {
  return page(visit, {
    title: 'Forges',
    main: html`<h1>Forges</h1>
      <p>Candidates of a linked knowledge base are pull requests of a repository, and what is merged there is approved here. Links are
        made on the server: <code>ganglion forge link</code>.</p>
      ${links.length === 0 ? html`<p class="empty">No knowledge base is linked.</p>` : table(links, now)}`,
  })
}

function table(links: readonly LinkSummary[], now: Date): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Links"><table>
    <thead><tr><th scope="col">Knowledge base</th><th scope="col">Repository</th><th scope="col">Pull requests</th>
      <th scope="col">Compared</th><th scope="col">State</th></tr></thead>
    <tbody>${links.map(
      (link) => html`<tr>
        <th scope="row">${link.kb}</th>
        <td><a href="${link.url}" rel="noreferrer">${link.url}</a></td>
        <td>${link.open} of ${link.maxOpen}</td>
        <td>${link.syncedAt === null ? 'never' : when(link.syncedAt, now)}</td>
        <td>${stateOf(link, now)}</td>
      </tr>`,
    )}</tbody></table></div>`
}

function stateOf({ failingSince, note, hasWebhook }: LinkSummary, now: Date): Html {
  if (failingSince !== null) return html`fails since ${when(failingSince, now)}: ${note ?? ''}`
  if (note !== null) return html`${note}`
  return hasWebhook ? html`well` : html`well, looked at once a minute`
}
