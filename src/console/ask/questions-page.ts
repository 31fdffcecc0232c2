import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { kbPage, neuronPage } from '../../contract/console-paths.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { describeKb } from '../../pages/describe-kb.ts'
import { listQuestions, type QuestionPage, type QuestionView } from '../../search/kb/question-log.ts'
import { type QuestionOrder, questionOrders } from '../../state/asked-questions.ts'
import { type Html, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { KbParams, withQuery } from '../layout/page-query.ts'
import { pagesOf } from '../layout/page-routes.ts'
import { when } from '../layout/wording.ts'
import { searchPath } from './ask-paths.ts'

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

type QuestionsView = QuestionPage & { kb: PageKb; order: QuestionOrder; from: number; isAdmin: boolean; now: Date }

export function questionsRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app, { people: 'curator' })
  pages.get('/kb/:kb/questions', { params: KbParams, query: Query }, async ({ visit, caller, params, query }) => {
    const kb = await describeKb(ctx, caller, params.kb)
    const found = await listQuestions(ctx, caller, kb.slug, { ...query, limit })
    return questionsPage(visit, { ...found, ...query, kb, isAdmin: visit.session.role === 'admin', now: new Date() })
  })
}

function questionsPage(visit: Visit, view: QuestionsView): Html {
  const { kb, order, from, questions, keptDays, next } = view
  const path = (query: { order?: QuestionOrder; from?: number }) => withQuery(`${kbPage(kb.slug)}/questions`, query)
  const tab = (one: QuestionOrder) =>
    html`<li><a href="${path({ order: one })}"${one === order && html` aria-current="true"`}>${labels[one]}</a></li>`
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
      ${questions.length === 0 ? html`<p class="empty">None.</p>` : table(view)}
      <nav class="row" aria-label="Pages of the list">
        ${from > 0 && html`<a href="${path({ order })}" rel="prev">First page</a>`}
        ${next !== null && html`<a href="${path({ order, from: next })}" rel="next">More</a>`}
      </nav>`,
  })
}

function table(view: QuestionsView): Html {
  const { kb, questions, now } = view
  return html`<div class="scroll"><table class="wide">
    <thead><tr><th scope="col">Question</th><th scope="col">Asked</th><th scope="col">Nothing found</th>
      <th scope="col">Refused</th><th scope="col">Voted down</th><th scope="col">Opened</th><th scope="col">Last</th><th scope="col">Do</th></tr></thead>
    <tbody>${questions.map(
      (one) => html`<tr>
      <th scope="row"><a href="${searchPath(kb.slug, { q: one.question, kind: 'all' })}"><bdi>${one.question}</bdi></a></th>
      <td class="number">${one.asked}</td><td class="number">${one.empty}</td><td class="number">${one.refused}</td><td class="number">${one.down}</td>
      <td>${one.opened
        .slice(0, 3)
        .map(
          ({ seqId, title, times }) =>
            html`<div><a href="${neuronPage(kb.slug, seqId)}"><bdi>${title}</bdi></a> ${times}</div>`,
        )}</td>
      <td>${when(one.askedAt, now)}</td><td>${remedies(view, one)}</td>
    </tr>`,
    )}</tbody></table></div>`
}

/** Each leads to a form that is filled in. The settings are for administrators. */
function remedies({ kb, isAdmin }: QuestionsView, { question, opened, isPinned }: QuestionView): Html {
  const base = kbPage(kb.slug)
  const [first] = opened
  return html`<div class="row">
    <a href="${withQuery(`${base}/new`, { title: question })}">Write a page</a>
    <a href="${withQuery(`${base}/tests`, { question, refuses: 'false' })}#add-title">Make a test</a>
    ${isAdmin && html`<a href="${withQuery(`${base}/settings`, { synonyms: `${question} = ` })}#search.synonyms">Synonym</a>`}
    ${isAdmin && !isPinned && html`<a href="${withQuery(`${base}/settings`, { pins: `${question} = ${first?.seqId ?? ''}` })}#search.pins">Pin a page</a>`}
    ${isPinned && html`<span class="badge">Pinned</span>`}
  </div>`
}
