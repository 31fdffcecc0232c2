import { z } from 'zod'
import { NewSite } from '../../contract/administration.ts'
import { kbPage } from '../../contract/console-paths.ts'
import { parseSent } from '../../contract/faults.ts'
import { describeKb } from '../../pages/list-knowledge-bases.ts'
import { typedItems } from '../../rules/text/lines.ts'
import { listQuestions } from '../../search/kb/question-log.ts'
import {
  addSite,
  changeSite,
  disableSite,
  enableSite,
  listSites,
  readSite,
  removeSite,
  type SiteView,
} from '../../sites/manage-sites.ts'
import { button, confirmedButton, controlsOf, type FormErrors, FormFields, form, postButton } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { dataTable } from '../layout/list-parts.ts'
import { page } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, type FormView, KbParams } from '../layout/page-routes.ts'
import { searchPath } from './search-path.ts'

const SiteParams = KbParams.extend({ id: z.uuid() })
const notices = {
  added: 'The site is added: paste the lines below into its pages.',
  changed: 'Saved.',
  disabled: 'The site is off: its readers are told so.',
  enabled: 'The site is on.',
  removed: 'The site is removed.',
}

const emptyForm = { perMinute: '6', perDay: '500' }

function sitesPath(kbSlug: string): string {
  return `${kbPage(kbSlug)}/sites`
}

export const sitesRoutes = consolePages({ people: 'curator' }, (pages, ctx) => {
  const ofOne = { params: SiteParams }

  pages.formPage('/kb/:kb/sites', {
    ...{ params: KbParams, body: FormFields, notices, show: sites },
    async act({ caller, params: { kb }, body }) {
      const { id } = await addSite(ctx, caller, kb, read(body))
      return { to: `${sitesPath(kb)}/${id}?done=added` }
    },
  })

  pages.formPage('/kb/:kb/sites/:id', {
    ...{ ...ofOne, body: FormFields, notices, show: site },
    async act({ caller, params, body }) {
      await changeSite(ctx, caller, params, read(body))
      return { to: `${sitesPath(params.kb)}/${params.id}?done=changed` }
    },
  })

  for (const [name, act] of Object.entries({ disable: disableSite, enable: enableSite })) {
    pages.post(`/kb/:kb/sites/:id/${name}`, ofOne, async ({ caller, params }) => {
      await act(ctx, caller, params)
      return { to: `${sitesPath(params.kb)}/${params.id}?done=${name}d` }
    })
  }

  pages.post('/kb/:kb/sites/:id/remove', ofOne, async ({ caller, params }) => {
    await removeSite(ctx, caller, params)
    return { to: `${sitesPath(params.kb)}?done=removed` }
  })

  async function sites(
    { visit, caller, params }: Pick<ConsoleRequest<{ kb: string }>, 'visit' | 'caller' | 'params'>,
    { notice, typed = emptyForm, errors }: FormView<FormFields>,
  ): Promise<Html> {
    const [kb, sites] = [await describeKb(ctx, caller, params.kb), await listSites(ctx, caller, params.kb)]
    const rows = sites.map(
      (site) => html`<th scope="row"><a href="${sitesPath(kb.slug)}/${site.id}"><bdi>${site.name}</bdi></a></th>
        <td>${site.origins.join(', ')}</td><td>${siteState(site)}</td><td class="number">${site.askedToday} of ${site.perDay}</td>`,
    )
    return page(visit, {
      title: `Sites of ${kb.title}`,
      kb,
      notice,
      main: html`<h1>Sites</h1>
        <p>Other web pages on which readers ask this knowledge base, without a key. They see only what is public.</p>
        ${dataTable('Sites', ['Name', 'Addresses', 'State', 'Questions today'], rows, { empty: 'There are no sites yet.' })}
        <h2 id="new">Add a site</h2>
        ${form(visit, { action: sitesPath(kb.slug), errors }, [fields(typed, errors), button('Add the site')])}`,
    })
  }

  async function site(
    { visit, caller, params, request }: ConsoleRequest<z.output<typeof SiteParams>>,
    { notice, typed, errors }: FormView<FormFields>,
  ): Promise<Html> {
    const site = await readSite(ctx, caller, params)
    const kb = await describeKb(ctx, caller, params.kb)
    const { questions: refused } = await listQuestions(ctx, caller, kb.slug, { order: 'refused', from: 0, limit: 10 })
    const base = ctx.urls.base || `${request.protocol}://${request.host}`
    const { id, name, disabledAt, askedToday, perDay } = site
    const api = `/widget/v1/sites/${id}`
    const path = `${sitesPath(kb.slug)}/${id}`
    const origins = site.origins.join('\n')
    const shown = typed ?? { name, origins, perMinute: `${site.perMinute}`, perDay: `${perDay}` }
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
          ${disabledAt === null ? postButton(visit, `${path}/disable`, 'Switch it off') : postButton(visit, `${path}/enable`, 'Switch it on')}
          ${confirmedButton(visit, `${path}/remove`, ['Remove…', 'Remove it now'])}
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
        ${form(visit, { action: path, errors }, [fields(shown, errors), button('Save')])}`,
    })
  }
})

function read({ name = '', origins = '', perMinute = '', perDay = '' }: FormFields): NewSite {
  const numberOf = (typed: string) => (/^\d{1,9}$/.test(typed.trim()) ? Number(typed) : typed)
  return parseSent(NewSite, {
    name: name.trim(),
    origins: typedItems(origins, /\s+/),
    perMinute: numberOf(perMinute),
    perDay: numberOf(perDay),
  })
}

function fields(typed: FormFields, errors: FormErrors | undefined): Html[] {
  const { text, area } = controlsOf(typed, errors)
  const number = { inputmode: 'numeric', required: true, class: 'short' }
  return [
    text('name', 'Name', { hint: 'Only curators see it.', required: true, maxlength: 100 }),
    area('origins', 'Addresses', {
      hint: 'Addresses of the web site, one on each line, without a path: https://www.example.org',
      ...{ required: true, class: 'short', spellcheck: 'false' },
    }),
    text('perMinute', 'Questions of a visitor in a minute', number),
    text('perDay', 'Questions of all visitors in a day', number),
  ]
}

function siteState({ disabledAt }: Pick<SiteView, 'disabledAt'>): Html {
  return disabledAt === null ? html`<span class="badge good">on</span>` : html`<span class="badge bad">off</span>`
}
