import { z } from 'zod'
import { kbPage, neuronPage } from '../../contract/console-paths.ts'
import { describeKb } from '../../pages/list-knowledge-bases.ts'
import { listQuestions, type QuestionView } from '../../search/kb/question-log.ts'
import { type QuestionOrder, questionOrders } from '../../state/asked-questions.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import { dataTable } from '../layout/list-parts.ts'
import { page } from '../layout/page.ts'
import { consolePages, KbParams, withQuery } from '../layout/page-routes.ts'
import { searchPath } from './search-path.ts'

const limit = 50
const Query = z.object({
  order: z.enum(questionOrders).catch('asked'),
  from: z.coerce.number().int().min(0).max(1e6).catch(0),
})

const labels: Readonly<Record<QuestionOrder, string>> = {
  asked: 'Asked most',
  empty: 'Found nothing',
  refused: 'Refused by chat',
  down: 'Voted down',
}

export const questionsRoutes = consolePages({ people: 'curator' }, (pages, ctx) => {
  pages.get('/kb/:kb/questions', { params: KbParams, query: Query }, async ({ visit, caller, params, query }) => {
    const { order, from } = query
    const kb = await describeKb(ctx, caller, params.kb)
    const { questions, keptDays, next } = await listQuestions(ctx, caller, kb.slug, { order, from, limit })
    const path = (query: { order?: QuestionOrder; from?: number }) => withQuery(`${kbPage(kb.slug)}/questions`, query)
    const tab = (one: QuestionOrder) =>
      html`<li><a href="${path({ order: one })}"${one === order && html` aria-current="true"`}>${labels[one]}</a></li>`
    const headings = ['Question', 'Asked', 'Nothing found', 'Refused', 'Voted down', 'Opened', 'Last', 'Do']
    const rows = questions.map((one) => row(kb.slug, one, visit.session.role === 'admin'))
    return page(visit, {
      title: `Questions of ${kb.title}`,
      kb,
      main: html`<h1>Questions</h1>
        <p class="hint">${
          keptDays === 0
            ? 'The settings say that no question is counted.'
            : `What people search for and ask, here and on sites, without who asked. A question is kept for ${keptDays} days after it was last asked. Questions of API keys are not counted.`
        }</p>
        <nav aria-label="Kinds of questions"><ul class="tabs">${questionOrders.map(tab)}</ul></nav>
        ${dataTable('Questions', headings, rows, { class: 'wide', empty: 'None.' })}
        <nav class="row" aria-label="Pages of the list">
          ${from > 0 && html`<a href="${path({ order })}" rel="prev">First page</a>`}
          ${next !== null && html`<a href="${path({ order, from: next })}" rel="next">More</a>`}
        </nav>`,
    })
  })
})

function row(kb: string, one: QuestionView, isAdmin: boolean): Html {
  return html`<th scope="row"><a href="${searchPath(kb, { q: one.question, kind: 'all' })}"><bdi>${one.question}</bdi></a></th>
    <td class="number">${one.asked}</td><td class="number">${one.empty}</td><td class="number">${one.refused}</td><td class="number">${one.down}</td>
    <td>${one.opened
      .slice(0, 3)
      .map(
        ({ seqId, title, times }) =>
          html`<div><a href="${neuronPage(kb, seqId)}"><bdi>${title}</bdi></a> ${times}</div>`,
      )}</td>
    <td>${when(one.askedAt)}</td><td>${remedies(kb, one, isAdmin)}</td>`
}

/** Renders links to forms that are filled in. The settings are for administrators. */
function remedies(kb: string, { question, opened, isPinned }: QuestionView, isAdmin: boolean): Html {
  const base = kbPage(kb)
  const [first] = opened
  return html`<div class="row">
    <a href="${withQuery(`${base}/new`, { title: question })}">Write a page</a>
    <a href="${withQuery(`${base}/tests`, { question, refuses: 'false' })}#add-title">Make a test</a>
    ${isAdmin && html`<a href="${withQuery(`${base}/settings`, { synonyms: `${question} = ` })}#search.synonyms">Synonym</a>`}
    ${isAdmin && !isPinned && html`<a href="${withQuery(`${base}/settings`, { pins: `${question} = ${first?.seqId ?? ''}` })}#search.pins">Pin a page</a>`}
    ${isPinned && html`<span class="badge">Pinned</span>`}
  </div>`
}
