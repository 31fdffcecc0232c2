import { neuronPage } from '../../../contract/console-paths.ts'
import type { OpenPage } from '../../../pages/write/open-page.ts'
import type { RenamePreview } from '../../../pages/write/preview-rename.ts'
import { button, errorSummary, type FormErrors, field, form } from '../../layout/form.ts'
import { type Html, type HtmlPart, html } from '../../layout/html-template.ts'
import { page, type Visit } from '../../layout/page.ts'
import { linkingPages } from './linking-pages.ts'

export type Names = { title: string; path: string }

export type RenameView = {
  opened: OpenPage
  candidateId: string
  typed: Names
  errors?: FormErrors | undefined
  warning?: HtmlPart
  /** What the rename would do; left out until names are given. */
  preview?: RenamePreview | undefined
  part: number
}

/** Renames a page in two steps: other names are given, and what they change is seen before it is done. */
export function renamePage(visit: Visit, view: RenameView): Html {
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
