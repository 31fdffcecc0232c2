import { button, type FormErrors, field, form, selectField, textArea } from '../layout/form.ts'
import { content, type Html, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { chatPage, feedbackPage, turnId } from './ask-paths.ts'
import type { ShownTurn } from './turn.ts'

export type FeedbackView = {
  kb: PageKb
  chatId: string
  turn: ShownTurn
  /** Pages that say something on the question. */
  pages: readonly { seqId: string; title: string }[]
  /** What was typed and refused, and why. */
  typed?: { reason: string; category: string; shouldCite: string; errors: FormErrors } | undefined
}

const categories = [
  { value: '', label: 'No special kind' },
  { value: 'wrong-info', label: 'It is wrong' },
  { value: 'missing-info', label: 'Something is missing' },
  { value: 'irrelevant', label: 'It does not answer the question' },
  { value: 'tone', label: 'How it is said' },
  { value: 'other', label: 'Something else' },
]

export function feedbackFormPage(visit: Visit, { kb, chatId, turn, pages, typed }: FeedbackView): Html {
  const { id, question, rendered } = turn
  const main = html`<h1>What is wrong with this answer?</h1>
    <blockquote><p class="verbatim" dir="auto">${question}</p></blockquote>
    ${rendered && content(rendered)}
    ${form(
      visit,
      { action: feedbackPage(kb.slug, chatId, id), errors: typed?.errors },
      html`${textArea({
        ...{ name: 'reason', label: 'What is wrong?', value: typed?.reason, errors: typed?.errors },
        hint: 'A curator reads it beside your question and the answer.',
        attributes: { required: true, maxlength: 2000, dir: 'auto' },
      })}
      ${selectField({ name: 'category', label: 'Kind', value: typed?.category ?? '', choices: categories })}
      ${field({
        ...{
          name: 'shouldCite',
          label: 'Page that it should rest on',
          value: typed?.shouldCite,
          errors: typed?.errors,
        },
        hint: 'The seqId, if you know one. It becomes a proposed answer test.',
        attributes: { list: 'pages', autocomplete: 'off', maxlength: 200 },
      })}
      <datalist id="pages">${pages.map(({ seqId, title }) => html`<option value="${seqId}">${title}</option>`)}</datalist>
      <input type="hidden" name="form" value="${crypto.randomUUID()}">
      <div class="row">
        ${button('Send', { name: 'vote', value: 'down' })}
        ${button('Send, and flag as harmful', { name: 'vote', value: 'flag', class: 'danger' })}
        <a href="${chatPage(kb.slug, chatId)}#${turnId(id)}">Back</a>
      </div>`,
    )}`
  return page(visit, { title: `What is wrong with an answer · ${kb.title}`, kb, main })
}
