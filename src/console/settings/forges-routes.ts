import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { type LinkSummary, listForgeLinks, unlinkForge } from '../../forge/bridge/manage-links.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { button, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { when } from '../layout/wording.ts'

type ForgesView = {
  links: readonly LinkSummary[]
  now: Date
  notice?: HtmlPart
}

const Path = z.object({ kb: z.string().max(200) })
const Query = z.object({ done: z.enum(['unlinked']).optional().catch(undefined) })

export function forgesRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'admin' } as const

  app.get('/settings/forges', { config, schema: { querystring: Query } }, async (request, reply) => {
    const links = await listForgeLinks(ctx, callerOf(request).tenantId)
    const notice = request.query.done && 'The link is gone. Both sides stay as they are.'
    return send(reply, forgesPage(visitOf(request), { links, now: new Date(), notice }))
  })

  app.post('/settings/forges/:kb/unlink', { config, schema: { params: Path } }, async (request, reply) => {
    await unlinkForge(ctx, callerOf(request), request.params.kb)
    return reply.redirect('/settings/forges?done=unlinked', 303)
  })
}

function forgesPage(visit: Visit, { links, now, notice }: ForgesView): Html {
  return page(visit, {
    title: 'Forges',
    notice,
    main: html`<h1>Forges</h1>
      <p>Candidates of a linked knowledge base are pull requests of a repository, and what is merged there is approved here.
        If it is unlinked, both sides stay as they are.</p>
      ${links.length === 0 ? html`<p class="empty">No knowledge base is linked.</p>` : table(visit, links, now)}
      <p>The operator of this server makes links with <code>ganglion forge link</code>.</p>`,
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
