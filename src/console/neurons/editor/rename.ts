import type { AppContext } from '../../../app/open-context.ts'
import { neuronPage, proposedPage } from '../../../contract/console-paths.ts'
import { GanglionError, ValidationError } from '../../../contract/errors.ts'
import { type OpenPage, openPage } from '../../../pages/write/open-page.ts'
import { type PageRename, previewRename, type RenamePreview } from '../../../pages/write/preview-rename.ts'
import { writePage } from '../../../pages/write/write-page.ts'
import { button, errorSummary, type FormErrors, field, form } from '../../layout/form.ts'
import { type Html, type HtmlPart, html } from '../../layout/html-template.ts'
import { page, type Visit } from '../../layout/page.ts'
import type { ConsoleRequest, PageAnswer } from '../../layout/page-routes.ts'
import { linkingPages } from './linking-pages.ts'
import { fieldsOf, formChanges, type PageForm, type PagePlace, typedIn } from './page-form.ts'

export async function showRename(
  ctx: AppContext,
  { visit, caller, params, query }: ConsoleRequest<PagePlace, Partial<Names> & { part: number }>,
): Promise<PageAnswer> {
  const { title, path, part } = query
  const opened = await openPage(ctx, caller, params)
  const shown = fieldsOf(opened)
  const typed = { title: title ?? shown.title, path: path ?? shown.path }
  const view: RenameView = { opened, candidateId: opened.candidateId, typed, part }
  if (title === undefined || path === undefined) return renamePage(visit, view)
  const { write, errors } = renameOf(opened, typed)
  try {
    if (errors !== undefined) throw new ValidationError(errors)
    const preview = await previewRename(ctx, caller, write, { kb: params.kb })
    return renamePage(visit, { ...view, preview })
  } catch (error) {
    return renameRefusal(visit, view, error)
  }
}

export async function submitRename(
  ctx: AppContext,
  { visit, caller, params, body: form }: ConsoleRequest<PagePlace, unknown, PageForm>,
): Promise<PageAnswer> {
  const opened = await openPage(ctx, caller, { ...params, at: form.base })
  const { title, path } = typedIn(form, fieldsOf(opened))
  const typed = { title, path }
  const view: RenameView = { opened, candidateId: form.candidate, typed, part: 1 }
  try {
    const { write, errors } = renameOf(opened, typed)
    if (errors !== undefined) throw new ValidationError(errors)
    const submitted = await writePage(ctx, caller, write, {
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
}

function renameOf(
  opened: OpenPage,
  { title, path }: Names,
): { write: PageRename; errors: Record<string, string[]> | undefined } {
  const shown = fieldsOf(opened)
  const { changes, errors } = formChanges({ ...shown, title, path }, shown)
  const target = { seqId: opened.seqId, base: opened.commit }
  const refused = Object.entries(errors.fieldErrors ?? {}).map(([name, messages = []]) => [name, [...messages]])
  if (path.trim() === '') refused.push(['path', ['must not be blank']])
  return {
    write: { target, ...(path === shown.path ? {} : { path }), changes },
    errors: refused.length === 0 ? undefined : Object.fromEntries(refused),
  }
}

function renameRefusal(visit: Visit, view: RenameView, error: unknown): PageAnswer {
  if (error instanceof ValidationError) return { page: renamePage(visit, { ...view, errors: error }), status: 422 }
  if (!(error instanceof GanglionError) || error.status >= 500) throw error
  return { page: renamePage(visit, { ...view, warning: error.message }), status: error.status }
}

export type Names = { title: string; path: string }

export type RenameView = {
  opened: OpenPage
  candidateId: string
  typed: Names
  errors?: FormErrors | undefined
  warning?: HtmlPart
  /** Effects of the rename; undefined until names are given. */
  preview?: RenamePreview | undefined
  part: number
}

/** Renames a page in two steps: other names are given, and what they change is seen before it is done. */
function renamePage(visit: Visit, view: RenameView): Html {
  const { opened, typed, errors, warning, preview } = view
  const { kb, seqId, title } = opened
  const action = `${neuronPage(kb.slug, seqId)}/rename`
  const main = html`<h1>Rename <span dir="auto">${title}</span></h1>
    ${warning && html`<div class="warning" role="alert">${warning}</div>`}
    <form method="get" action="${action}">
      ${errors && errorSummary(errors)}
      ${field({ name: 'title', label: 'Title', value: typed.title, errors, attributes: { required: true, dir: 'auto' } })}
      ${field({
        name: 'path',
        label: 'Folder and file name',
        hint: 'Such as guides/on-call.',
        value: typed.path,
        errors,
        attributes: { required: true },
      })}
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
  const hrefOf = (to: number) => `${action}?${new URLSearchParams({ ...typed, part: String(to) })}`
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
        : html`<h3>Pages whose links are rewritten</h3>${linkingPages(opened.kb.slug, pages, { part, isMore, hrefOf })}`
    }
    ${form(
      visit,
      { action },
      html`<input type="hidden" name="candidate" value="${candidateId}">
      <input type="hidden" name="base" value="${opened.commit}">
      <input type="hidden" name="title" value="${typed.title}">
      <input type="hidden" name="path" value="${typed.path}">
      <div class="row">
        ${button('Propose', { class: 'second', name: 'do', value: 'propose' })}
        ${button('Rename', { name: 'do', value: 'publish' })}
      </div>
      <p class="hint">“Propose” puts the rename into the queue for somebody to review. “Rename” does it in your name.</p>`,
    )}`
}
