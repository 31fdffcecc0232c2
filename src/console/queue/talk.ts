import type { Rendered } from '../../pages/render-page.ts'
import type { CandidateReview, ReviewStep } from '../../review/review-candidate.ts'
import { content } from '../layout/content.ts'
import { button, type FormErrors, form, textArea } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import type { Visit } from '../layout/visit.ts'
import { when } from '../layout/when.ts'
import { candidateUrl, type QueueParams } from './view.ts'

const verbs: Readonly<Record<ReviewStep['action'], string>> = {
  approve: 'approved',
  dismiss: 'dismissed',
  reopen: 'put back',
  comment: 'commented',
  revise: 'revised',
}

/** What people have said and done, and a form to say more. `comments`: rendered, in the order of the comments. */
export function talkSection(
  visit: Visit,
  { entry, steps }: Pick<CandidateReview, 'entry' | 'steps'>,
  {
    comments,
    params,
    typed,
    errors,
  }: { comments: readonly Rendered[]; params: QueueParams; typed: string | undefined; errors: FormErrors | undefined },
): Html {
  const rendered = comments.values()
  return html`<section aria-labelledby="talk-title">
    <h2 id="talk-title">Comments and history</h2>
    <ol class="steps">
      <li><bdi>${entry.createdBy}</bdi> proposed it ${when(entry.createdAt)}</li>
      ${steps.map((step) => stepItem(step, step.action === 'comment' ? rendered.next().value : undefined))}
    </ol>
    ${form(
      visit,
      {
        action: candidateUrl(entry.id, params, {}, 'comment'),
        errors,
        attributes: { id: 'comment', 'data-keep': `comment-${entry.id}` },
      },
      html`${textArea({ name: 'comment', label: 'Comment', hint: 'Markdown. Other curators see it.', value: typed, errors, attributes: { maxlength: 10_000, dir: 'auto', rows: 3 } })}
      ${button('Comment', { class: 'second' })}`,
    )}
  </section>`
}

function stepItem({ action, at, by, reason }: ReviewStep, comment: Rendered | undefined): Html {
  return html`<li><bdi>${by}</bdi> ${verbs[action]} ${action !== 'comment' && 'it '}${when(at)}
    ${comment !== undefined && content(comment)}
    ${comment === undefined && reason !== undefined && reason !== '' && html`<blockquote dir="auto">${reason}</blockquote>`}</li>`
}
