import { neuronPage } from '../../../contract/console-paths.ts'
import type { OpenPage } from '../../../pages/write/open-page.ts'
import { button, form, textArea } from '../../layout/form.ts'
import { type Html, type HtmlPart, html } from '../../layout/html-template.ts'
import { page } from '../../layout/page.ts'
import type { Visit } from '../../layout/visit.ts'
import { linkingPages } from './linking-pages.ts'

export type RemoveView = {
  opened: OpenPage
  candidateId: string
  /** Pages that link here, each once. */
  linking: readonly { seqId: string; title: string }[]
  isMore: boolean
  note: string
  warning?: HtmlPart
  /** Which part of the pages that link here is shown, from 1. */
  part: number
}

/** Asks whether a page is to go, with the links that it leaves behind. */
export function removalPage(visit: Visit, view: RemoveView): Html {
  const { opened, candidateId, linking, isMore, note, warning, part } = view
  const { kb, seqId, title, commit } = opened
  const path = neuronPage(kb.slug, seqId)
  const hrefOf = (to: number) => `${path}/remove?part=${to}`
  const main = html`<h1>Remove <span dir="auto">${title}</span></h1>
    ${warning && html`<div class="warning" role="alert">${warning}</div>`}
    ${
      linking.length === 0
        ? html`<p>No other page links to it.</p>`
        : html`<h2>Links that will lead nowhere</h2>
          <p>${linking.length === 1 ? '1 page links' : `${isMore ? 'More than ' : ''}${linking.length} pages link`} to it:</p>
          ${linkingPages(kb.slug, linking, { part, isMore, hrefOf })}`
    }
    ${form(
      visit,
      { action: `${path}/remove` },
      html`<input type="hidden" name="candidate" value="${candidateId}">
      <input type="hidden" name="base" value="${commit}">
      ${textArea({ name: 'note', label: 'Why? (optional)', hint: 'Reviewers see it.', value: note, attributes: { rows: 2, maxlength: 2000, dir: 'auto' } })}
      <div class="row">
        ${button('Propose the removal', { class: 'second', name: 'do', value: 'propose' })}
        ${button('Remove now', { class: 'danger', name: 'do', value: 'publish' })}
        <a href="${path}">Keep the page</a>
      </div>
      <p class="hint">A removed page stays in the history: its removal can be undone in the queue.</p>`,
    )}`
  return page(visit, { title: `Remove ${title} · ${kb.title}`, kb, main })
}
