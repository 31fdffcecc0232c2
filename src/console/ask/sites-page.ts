import { kbPage } from '../../contract/console-paths.ts'
import type { SiteView } from '../../sites/manage-sites.ts'
import type { AskedQuestion } from '../../state/asked-questions.ts'
import { button, type FormErrors, field, form, textArea } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { searchPath } from './search-paths.ts'

export type SiteForm = { name: string; origins: string; perMinute: string; perDay: string }

type Shown = { kb: PageKb; notice?: HtmlPart; typed?: SiteForm | undefined; errors?: FormErrors | undefined }
export type SitesView = Shown & { sites: readonly SiteView[] }
export type OneSiteView = Shown & {
  site: SiteView
  /** Where browsers reach the server. */
  base: string
  /** Questions that found no answer, whoever asked them. */
  refused: readonly Pick<AskedQuestion, 'question' | 'refused'>[]
}

const emptyForm: SiteForm = { name: '', origins: '', perMinute: '6', perDay: '500' }

export function sitesPath(kbSlug: string): string {
  return `${kbPage(kbSlug)}/sites`
}

/** The sites of a knowledge base, and a form to add one. */
export function sitesPage(visit: Visit, { kb, sites, typed = emptyForm, errors, notice }: SitesView): Html {
  return page(visit, {
    title: `Sites of ${kb.title}`,
    kb,
    notice,
    main: html`<h1>Sites</h1>
      <p>Other web pages on which readers ask this knowledge base, without a key. They see only what is public.</p>
      ${sites.length === 0 ? html`<p class="empty">There are no sites yet.</p>` : table(kb, sites)}
      <h2 id="new">Add a site</h2>
      ${form(visit, { action: sitesPath(kb.slug), errors }, [fields(typed, errors), button('Add the site')])}`,
  })
}

/** A site: what to paste, how it looks, what readers did not find, and its bounds. */
export function sitePage(visit: Visit, view: OneSiteView): Html {
  const { kb, site, base, refused, notice, errors } = view
  const { id, name, disabledAt, askedToday, perDay } = site
  const api = `/widget/v1/sites/${id}`
  const path = `${sitesPath(kb.slug)}/${id}`
  const typed = view.typed ?? {
    ...site,
    origins: site.origins.join('\n'),
    perMinute: `${site.perMinute}`,
    perDay: `${perDay}`,
  }
  const snippet = `<script type="module" src="${base}/widget/v1/ganglion-chat.js"></script>\n<ganglion-chat api="${base}${api}"></ganglion-chat>`
  return page(visit, {
    title: `Site ${name}`,
    kb,
    notice,
    islands: ['copy'],
    main: html`<p><a href="${sitesPath(kb.slug)}">All sites</a></p>
      <h1><bdi>${name}</bdi></h1>
      <dl class="report">
        <div><dt>State</dt><dd>${siteState(site)}</dd></div>
        <div><dt>Questions today</dt><dd>${askedToday} of ${perDay}</dd></div>
      </dl>
      <div class="row">
        ${form(visit, { action: `${path}/${disabledAt === null ? 'disable' : 'enable'}` }, button(disabledAt === null ? 'Switch it off' : 'Switch it on', { class: 'second' }))}
        <details><summary>Remove…</summary>${form(visit, { action: `${path}/remove` }, button('Remove it now', { class: 'danger' }))}</details>
      </div>
      <h2 id="snippet">To paste</h2>
      <p class="field"><label for="code">Into the page, where you want the chat</label><textarea id="code" readonly rows="3" spellcheck="false" data-copy>\n${snippet}</textarea></p>
      <h2 id="preview">Preview</h2>
      <p class="hint">As readers see it. Its questions count like theirs.</p>
      <script type="module" src="/widget/v1/ganglion-chat.js"></script>
      <ganglion-chat api="${api}" height="28em"></ganglion-chat>
      <h2 id="refused">What was not found</h2>
      <p class="hint">Questions without an answer, from this site and everywhere else.</p>
      ${
        refused.length === 0
          ? html`<p class="empty">Nothing yet.</p>`
          : html`<ul>${refused.map((one) => html`<li><a href="${searchPath(kb.slug, { q: one.question, kind: 'all' })}"><bdi>${one.question}</bdi></a> ${one.refused}</li>`)}</ul>`
      }
      <p><a href="${kbPage(kb.slug)}/questions?order=refused">All questions of this knowledge base</a></p>
      <h2 id="change">Change it</h2>
      ${form(visit, { action: path, errors }, [fields(typed, errors), button('Save')])}`,
  })
}

function fields({ name, origins, perMinute, perDay }: SiteForm, errors: FormErrors | undefined): Html[] {
  const number = { inputmode: 'numeric', required: true, class: 'short' } as const
  return [
    field({
      name: 'name',
      label: 'Name',
      value: name,
      errors,
      hint: 'Only curators see it.',
      attributes: { required: true, maxlength: 100 },
    }),
    textArea({
      ...{ name: 'origins', label: 'Addresses', value: origins, errors },
      hint: 'Where its pages are, one on a line, without a path: https://www.example.org',
      attributes: { required: true, class: 'short', spellcheck: 'false' },
    }),
    field({
      name: 'perMinute',
      label: 'Questions of a visitor in a minute',
      value: perMinute,
      errors,
      attributes: number,
    }),
    field({ name: 'perDay', label: 'Questions of all visitors in a day', value: perDay, errors, attributes: number }),
  ]
}

function table(kb: PageKb, sites: readonly SiteView[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Sites"><table>
    <thead><tr><th scope="col">Name</th><th scope="col">Addresses</th><th scope="col">State</th><th scope="col">Questions today</th></tr></thead>
    <tbody>${sites.map(
      (site) => html`<tr>
        <th scope="row"><a href="${sitesPath(kb.slug)}/${site.id}"><bdi>${site.name}</bdi></a></th>
        <td>${site.origins.join(', ')}</td><td>${siteState(site)}</td><td class="number">${site.askedToday} of ${site.perDay}</td>
      </tr>`,
    )}</tbody>
  </table></div>`
}

function siteState({ disabledAt }: Pick<SiteView, 'disabledAt'>): Html {
  return disabledAt === null ? html`<span class="badge good">on</span>` : html`<span class="badge bad">off</span>`
}
