import { neuronPage, previewPage } from '../../contract/console-paths.ts'
import { maxPreviewed } from '../../contract/preview.ts'
import type { CandidateReview } from '../../review/review-candidate.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { button, type FormErrors, field, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import type { Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'
import { statusLabels, verdictText, warningList } from './entry-parts.ts'
import { undoForm } from './outcome-notice.ts'
import { candidateUrl, type QueueParams } from './view.ts'

type Deciding = {
  params: QueueParams
  /** Whether the form of an edit is open: approving without it would throw the edit away. */
  isEditing: boolean
  reason: string | undefined
  errors: FormErrors | undefined
}

export function decidePanel(visit: Visit, review: CandidateReview, deciding: Deciding): Html {
  const { entry } = review
  return html`<section class="decide" id="decide" aria-labelledby="decide-title">
    <div><h2 id="decide-title"${entry.status === 'pending' && html` class="unseen"`}>${entry.status === 'pending' ? 'Decide' : statusLabels[entry.status]}</h2>
      <p class="soft">${verdictText(entry)}</p>
      ${review.awaiting && html`<p>${review.hasVoted && 'You have approved it. '}${awaitingText(review.awaiting)}</p>`}
      ${entry.asked !== null && html`<p class="warning"><bdi>${entry.asked.by}</bdi> asked for changes ${when(entry.asked.at)}: <span dir="auto">${entry.asked.reason}</span></p>`}
      ${warningList(entry.warnings)}</div>
    <div class="row">${entry.status === 'pending' ? decisions(visit, review, deciding) : undone(visit, review, deciding.params)}</div>
  </section>`
}

function decisions(
  visit: Visit,
  { entry, sides, bundle }: CandidateReview,
  { params, isEditing, reason, errors }: Deciding,
): Html {
  const { id, seen } = entry
  const seenField = html`<input type="hidden" name="seen" value="${seen}">`
  const canApprove = sides.problem === undefined && !isEditing
  const tried = bundle === undefined ? [id] : bundle.members.slice(0, maxPreviewed).map((member) => member.id)
  const isEditable = canApprove && entry.intent.does !== 'remove'
  return html`${
    canApprove &&
    form(
      visit,
      { action: candidateUrl(id, params, {}, 'approve'), attributes: { 'data-decide': 'approve' } },
      html`${seenField}${button('Approve', { 'aria-keyshortcuts': 'a' })}`,
    )
  }
      ${isEditable && html`<a class="button second" href="${candidateUrl(id, params, { edit: '1' })}#edit" data-edit aria-keyshortcuts="e">Edit, then approve</a>`}
      ${sides.problem === undefined && html`<a class="button second" href="${previewPage(tried)}" data-try>${tryLabel(tried.length, bundle?.members.length ?? 1)}</a>`}
    ${form(
      visit,
      {
        action: candidateUrl(id, params, {}, 'dismiss'),
        errors,
        attributes: { class: 'dismiss', 'data-decide': 'dismiss', 'data-keep': `dismiss-${id}` },
      },
      html`${seenField}
      ${field({ name: 'reason', label: 'Reason to dismiss (optional)', value: reason, errors, attributes: { maxlength: 2000, dir: 'auto', autocomplete: 'off', placeholder: 'Reason (optional)', 'data-reason': true } })}
      ${button('Dismiss', { class: 'danger', 'aria-keyshortcuts': 'd' })}`,
    )}`
}

function tryLabel(tried: number, waiting: number): string {
  if (tried < waiting) return `Try the first ${tried}`
  return tried > 1 ? `Try all ${tried}` : 'Try it'
}

function undone(visit: Visit, { entry }: CandidateReview, params: QueueParams): Html {
  const { id, kb, status, seqId, intent } = entry
  return html`${status === 'approved' && seqId !== undefined && intent.does !== 'remove' && html`<p><a href="${neuronPage(kb, seqId)}">See the page</a></p>`}
    ${undoForm(visit, { id, status }, params)}
    ${status === 'approved' && html`<p class="hint">An approval stays in the history. Its reverse is a new candidate, which you then approve.</p>`}`
}
