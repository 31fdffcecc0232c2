import { z } from 'zod'
import { neuronPage, proposedPage } from '../../../contract/console-paths.ts'
import { GanglionError, ValidationError } from '../../../contract/errors.ts'
import { readNeuron } from '../../../pages/read-neuron.ts'
import { type OpenPage, openPage } from '../../../pages/write/open-page.ts'
import { type PageRename, previewRename, type RenamePreview } from '../../../pages/write/preview-rename.ts'
import { removePage, writePage } from '../../../pages/write/write-page.ts'
import { button, controlsOf, errorSummary, type FormErrors, form, hidden } from '../../layout/form.ts'
import { type Html, type HtmlPart, html } from '../../layout/html-template.ts'
import { turnPages } from '../../layout/list-parts.ts'
import { page, type Visit } from '../../layout/page.ts'
import { type ConsoleRequest, consolePages, countField, type PageAnswer } from '../../layout/page-routes.ts'
import { fieldsOf, formChanges, noteOf, PageForm, typedIn } from './page-form.ts'

const NeuronParams = z.object({ kb: z.string(), seqId: z.string() })
const part = countField(2).default(1)
const Parts = z.object({ part })
const Renaming = z.object({ title: z.string().exactOptional(), path: z.string().exactOptional(), part })

type Names = { title: string; path: string }
type RenameView = {
  opened: OpenPage
  candidateId: string
  typed: Names
  errors?: FormErrors | undefined
  warning?: HtmlPart
  /** Effects of the rename; undefined until names are given. */
  preview?: RenamePreview | undefined
  part: number
}

/** Maximum number of backlinks in an answer. */
const maxBacklinks = 1000
const perPage = 50

export const renameRoutes = consolePages({ people: 'curator' }, (pages, ctx) => {
  const neuron = '/kb/:kb/neurons/:seqId'
  const ofNeuron = { params: NeuronParams }

  pages.get(`${neuron}/rename`, { ...ofNeuron, query: Renaming }, async ({ visit, caller, params, query }) => {
    const { title, path, part } = query
    const opened = await openPage(ctx, caller, params)
    const shown = fieldsOf(opened)
    const typed = { title: title ?? shown.title, path: path ?? shown.path }
    const view: RenameView = { opened, candidateId: opened.candidateId, typed, part }
    if (title === undefined || path === undefined) return renamePage(visit, view)
    try {
      const preview = await previewRename(ctx, caller, renameOf(opened, typed), { kb: params.kb })
      return renamePage(visit, { ...view, preview })
    } catch (error) {
      return renameRefusal(visit, view, error)
    }
  })

  pages.post(`${neuron}/rename`, { ...ofNeuron, body: PageForm }, async ({ visit, caller, params, body: form }) => {
    const opened = await openPage(ctx, caller, { ...params, at: form.base })
    const { title, path } = typedIn(form, fieldsOf(opened))
    const view: RenameView = { opened, candidateId: form.candidate, typed: { title, path }, part: 1 }
    try {
      const submitted = await writePage(ctx, caller, renameOf(opened, view.typed), {
        kb: params.kb,
        candidateId: form.candidate,
        publish: form.do === 'publish',
      })
      if (submitted.status === 'approved') return { to: `${neuronPage(opened.kb.slug, submitted.seqId)}?done=renamed` }
      const { candidateId, refusal } = submitted
      if (refusal === undefined) return { to: proposedPage(candidateId) }
      const warning = html`<p>${refusal.message} The rename waits in <a href="/queue/${candidateId}">the queue</a>.</p>`
      return { page: renamePage(visit, { ...view, warning }), status: 409 }
    } catch (error) {
      return renameRefusal(visit, view, error)
    }
  })

  pages.get(`${neuron}/remove`, { ...ofNeuron, query: Parts }, (sent) => removalPage(sent, sent.query))

  // Proposes the removal, or removes the page. A page that was changed since it was shown is shown again.
  pages.post(`${neuron}/remove`, { ...ofNeuron, body: PageForm }, async (sent) => {
    const { caller, params, body: form } = sent
    const target = { seqId: params.seqId, base: form.base }
    const submitted = await removePage(ctx, caller, target, {
      kb: params.kb,
      candidateId: form.candidate,
      note: noteOf(form),
      publish: form.do === 'publish',
    })
    const { candidateId } = submitted
    if (submitted.status === 'approved' || submitted.refusal === undefined) return { to: proposedPage(candidateId) }
    const warning = html`<p>Somebody has changed this page since you saw it, so it is not removed. Look at it again.
      The removal waits in <a href="/queue/${candidateId}">the queue</a>; if you send it again, that takes its place.</p>`
    return { page: await removalPage(sent, { part: 1, note: form.note, candidateId, warning }), status: 409 }
  })

  async function removalPage(
    { visit, caller, params }: ConsoleRequest<z.output<typeof NeuronParams>>,
    shown: { part: number; note?: string; candidateId?: string; warning?: HtmlPart },
  ): Promise<Html> {
    const { part, note, warning } = shown
    const { kb, seqId, title, commit, candidateId } = await openPage(ctx, caller, params)
    const { backlinks } = await readNeuron(ctx, caller, params)
    const linking = [...new Map(backlinks.map((link) => [link.seqId, link])).values()]
    const isMore = backlinks.length >= maxBacklinks
    const path = neuronPage(kb.slug, seqId)
    const href = (to: number) => `${path}/remove?part=${to}`
    const main = html`<h1>Remove <span dir="auto">${title}</span></h1>
      ${warning && html`<div class="warning" role="alert">${warning}</div>`}
      ${
        linking.length === 0
          ? html`<p>No other page links to it.</p>`
          : html`<h2>Links that will lead nowhere</h2>
            <p>${linking.length === 1 ? '1 page links' : `${isMore ? 'More than ' : ''}${linking.length} pages link`} to it:</p>
            ${linkingPages(kb.slug, linking, { part, href })}`
      }
      ${form(visit, { action: `${path}/remove` }, [
        hidden({ candidate: shown.candidateId ?? candidateId, base: commit }),
        controlsOf({ note }).area('note', 'Why? (optional)', {
          hint: 'Reviewers see it.',
          ...{ rows: 2, maxlength: 2000, dir: 'auto' },
        }),
        html`<div class="row">
          ${button('Propose the removal', { class: 'second', name: 'do', value: 'propose' })}
          ${button('Remove now', { class: 'danger', name: 'do', value: 'publish' })}
          <a href="${path}">Keep the page</a>
        </div>
        <p class="hint">A removed page stays in the history: its removal can be undone in the queue.</p>`,
      ])}`
    return page(visit, { title: `Remove ${title} · ${kb.title}`, kb, main })
  }
})

/** Parses the names in the form. @throws {ValidationError} */
function renameOf(opened: OpenPage, { title, path }: Names): PageRename {
  const shown = fieldsOf(opened)
  const { changes, errors } = formChanges({ ...shown, title, path }, shown)
  const refused = Object.entries(errors.fieldErrors ?? {}).map(([name, messages = []]) => [name, [...messages]])
  if (path.trim() === '') refused.push(['path', ['must not be blank']])
  if (refused.length > 0) throw new ValidationError(Object.fromEntries(refused))
  return { target: { seqId: opened.seqId, base: opened.commit }, ...(path === shown.path ? {} : { path }), changes }
}

function renameRefusal(visit: Visit, view: RenameView, error: unknown): PageAnswer {
  if (error instanceof ValidationError) return { page: renamePage(visit, { ...view, errors: error }), status: 422 }
  if (!(error instanceof GanglionError) || error.status >= 500) throw error
  return { page: renamePage(visit, { ...view, warning: error.message }), status: error.status }
}

/** Renders a rename in two steps: new names, then a preview of their effects with the buttons. */
function renamePage(visit: Visit, view: RenameView): Html {
  const { opened, typed, errors, warning, preview } = view
  const { kb, seqId, title } = opened
  const action = `${neuronPage(kb.slug, seqId)}/rename`
  const { text } = controlsOf(typed, errors)
  const main = html`<h1>Rename <span dir="auto">${title}</span></h1>
    ${warning && html`<div class="warning" role="alert">${warning}</div>`}
    <form method="get" action="${action}">
      ${errors && errorSummary(errors)}
      ${text('title', 'Title', { required: true, dir: 'auto' })}
      ${text('path', 'Folder and file name', { hint: 'Such as guides/on-call.', required: true })}
      ${button('See what changes', { class: preview === undefined ? '' : 'second' })}
    </form>
    ${preview && html`<section aria-labelledby="changes"><h2 id="changes">What changes</h2>${changes(visit, view, preview, action)}</section>`}`
  return page(visit, { title: `Rename ${title} · ${kb.title}`, kb, main })
}

function changes(
  visit: Visit,
  { opened, candidateId, typed, part }: RenameView,
  preview: RenamePreview,
  action: string,
): Html {
  const { title, path, aliases, pages, isMore } = preview
  if (title === opened.title && path === opened.path) {
    return html`<p class="empty">Nothing changes: give another title, folder or file name.</p>`
  }
  const href = (to: number) => `${action}?${new URLSearchParams({ ...typed, part: String(to) })}`
  return html`<dl>
      ${title !== opened.title && html`<dt>Title</dt><dd dir="auto"><del>${opened.title}</del> <ins>${title}</ins></dd>`}
      ${path !== opened.path && html`<dt>File</dt><dd><del>${opened.path}</del> <ins>${path}</ins></dd>`}
      ${
        aliases.length > 0 &&
        html`<dt>Kept as other names, so that links still lead here</dt>
        <dd><ul>${aliases.map((alias) => html`<li dir="auto">${alias}</li>`)}</ul></dd>`
      }
    </dl>
    ${
      pages.length === 0
        ? html`<p>No other page is changed.</p>`
        : html`<h3>Pages whose links are rewritten (${isMore && 'more than '}${pages.length})</h3>${linkingPages(opened.kb.slug, pages, { part, href })}`
    }
    ${form(visit, { action }, [
      hidden({ candidate: candidateId, base: opened.commit, ...typed }),
      html`<div class="row">
        ${button('Propose', { class: 'second', name: 'do', value: 'propose' })}
        ${button('Rename', { name: 'do', value: 'publish' })}
      </div>
      <p class="hint">“Propose” puts the rename into the queue for somebody to review. “Rename” does it in your name.</p>`,
    ])}`
}

/** Renders a part of the pages that link to one, with links to the other parts. @param href the address of a part, from 1 */
function linkingPages(
  kbSlug: string,
  pages: readonly { seqId: string; title: string }[],
  { part, href }: { part: number; href: (part: number) => string },
): Html {
  const start = (part - 1) * perPage
  const shown = pages.slice(start, start + perPage)
  const items = shown.map(
    ({ seqId, title }) => html`<li><a href="${neuronPage(kbSlug, seqId)}" dir="auto">${title}</a></li>`,
  )
  const turn = { label: 'Pages that link here', page: part, pages: Math.ceil(pages.length / perPage), href }
  return html`<ol class="linking" start="${start + 1}">${items}</ol>${turnPages(turn)}`
}
