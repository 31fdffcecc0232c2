import type { AppContext } from '../../../app/open-context.ts'
import { neuronPage, proposedPage } from '../../../contract/console-paths.ts'
import { readNeuron } from '../../../pages/read-neuron.ts'
import { type OpenPage, openPage } from '../../../pages/write/open-page.ts'
import { removePage } from '../../../pages/write/write-page.ts'
import { button, form, textArea } from '../../layout/form.ts'
import { type Html, type HtmlPart, html } from '../../layout/html-template.ts'
import { page, type Visit } from '../../layout/page.ts'
import type { ConsoleRequest, PageAnswer } from '../../layout/page-routes.ts'
import { linkingPages } from './linking-pages.ts'
import { noteOf, type PageForm, type PagePlace } from './page-form.ts'

type RemoveView = {
  opened: OpenPage
  candidateId: string
  /** Pages that link here, each once. */
  linking: readonly { seqId: string; title: string }[]
  isMore: boolean
  note: string
  warning?: HtmlPart
  /** Number of the shown part of the pages that link here, from 1. */
  part: number
}

/** Maximum number of backlinks in an answer. */
const most = 1000

export async function showRemoval(
  ctx: AppContext,
  { visit, caller, params }: ConsoleRequest<PagePlace>,
  shown: { part: number; note?: string; candidateId?: string; warning?: HtmlPart },
): Promise<Html> {
  const { part, note = '', warning } = shown
  const opened = await openPage(ctx, caller, params)
  const { backlinks } = await readNeuron(ctx, caller, params)
  const linking = [...new Map(backlinks.map((link) => [link.seqId, link])).values()]
  const candidateId = shown.candidateId ?? opened.candidateId
  const view = { opened, candidateId, linking, isMore: backlinks.length >= most, note, warning, part }
  return removalPage(visit, view)
}

/** Proposes a removal, or removes the page. A page that was changed since it was shown is shown again. */
export async function submitRemoval(
  ctx: AppContext,
  sent: ConsoleRequest<PagePlace, unknown, PageForm>,
): Promise<PageAnswer> {
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
  return { page: await showRemoval(ctx, sent, { part: 1, note: form.note, candidateId, warning }), status: 409 }
}

function removalPage(visit: Visit, view: RemoveView): Html {
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
