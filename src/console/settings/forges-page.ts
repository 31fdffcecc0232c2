import type { OfferedCredentialSummary } from '../../forge/bridge/link-as-offered.ts'
import type { LinkSummary } from '../../forge/bridge/manage-links.ts'
import { button, type FormErrors, field, form, selectField } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page } from '../layout/page.ts'
import type { Visit } from '../layout/visit.ts'
import { when } from '../layout/when.ts'

type LinkForm = { kb: string; credential: string; url: string; maxOpen: string }

export type ForgesView = {
  links: readonly LinkSummary[]
  /** Those that are not linked. */
  kbs: readonly { slug: string; title: string }[]
  credentials: readonly OfferedCredentialSummary[]
  now: Date
  notice?: HtmlPart
  typed?: LinkForm | undefined
  errors?: FormErrors | undefined
}

/** Pull requests that may be open at a time. */
export const mostOpen = 1000
const emptyForm: LinkForm = { kb: '', credential: '', url: '', maxOpen: '50' }

/** Which knowledge bases are linked to repositories on forges, how the links stand, and a form to link another. */
export function forgesPage(visit: Visit, view: ForgesView): Html {
  const { links, now, notice } = view
  return page(visit, {
    title: 'Forges',
    notice,
    main: html`<h1>Forges</h1>
      <p>Candidates of a linked knowledge base are pull requests of a repository, and what is merged there is approved here.
        If it is unlinked, both sides stay as they are.</p>
      ${links.length === 0 ? html`<p class="empty">No knowledge base is linked.</p>` : table(visit, links, now)}
      <h2 id="new">Link a knowledge base</h2>
      ${newLink(visit, view)}`,
  })
}

function newLink(visit: Visit, { kbs, credentials, typed = emptyForm, errors }: ForgesView): Html {
  if (credentials.length === 0) {
    return html`<p>The operator of this server makes links with <code>ganglion forge link</code>, or offers you
      credentials with which you can make them here: <code>GANGLION_FORGE_CREDENTIALS</code>.</p>`
  }
  if (kbs.length === 0) return html`<p class="empty">All knowledge bases are linked.</p>`
  return form(visit, { action: '/settings/forges', errors }, [
    selectField({
      name: 'kb',
      label: 'Knowledge base',
      value: typed.kb,
      errors,
      choices: kbs.map(({ slug, title }) => ({ value: slug, label: title })),
    }),
    selectField({
      name: 'credential',
      label: 'Credential',
      value: typed.credential,
      errors,
      hint: 'With which the server writes there. The operator of the server sets it up, and says where it may be used.',
      choices: credentials.map(({ name, repositories }) => ({ value: name, label: `${name}, for ${repositories}` })),
    }),
    field({
      name: 'url',
      label: 'Repository',
      type: 'url',
      value: typed.url,
      errors,
      hint: "The address of its page. It must be empty. Everybody who can read it sees the whole knowledge base, whatever a page's audience is.",
      attributes: { required: true, maxlength: 500 },
    }),
    field({
      name: 'maxOpen',
      label: 'Pull requests at a time',
      value: typed.maxOpen,
      errors,
      hint: 'The most urgent candidates first; the others follow as places come free.',
      attributes: { inputmode: 'numeric', class: 'short', required: true },
    }),
    button('Link it'),
  ])
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
