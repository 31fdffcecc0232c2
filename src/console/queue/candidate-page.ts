import type { TestEffects } from '../../contract/answer-tests.ts'
import { kbPage, neuronPage, previewPage } from '../../contract/console-paths.ts'
import { type ErrorCode, errorTable } from '../../contract/errors.ts'
import { maxPreviewed } from '../../contract/preview.ts'
import type { Rendered } from '../../pages/render-page.ts'
import type { CandidateReview, ReviewStep } from '../../review/review-candidate.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { button, type FormErrors, field, form, textArea } from '../layout/form.ts'
import { content, type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-query.ts'
import { when } from '../layout/wording.ts'
import { changeSection, type ShownChange, type TestsChange, testsSection } from './change-section.ts'
import { editConflict, editForm, type TypedEdit } from './edit-form.ts'
import {
  badges,
  confidenceText,
  countText,
  intentText,
  keysHelp,
  kindLabels,
  statusLabels,
  verdictText,
  warningList,
} from './entry-parts.ts'
import { duplicateSection, effectsSection, fieldSection, linkSection, type Similar, similarSection } from './facts.ts'
import { bundleSection } from './list-page.ts'
import { undoForm } from './outcome-notice.ts'
import { candidateUrl, listPath, type QueueParams } from './view.ts'

const verbs: Readonly<Record<ReviewStep['action'], string>> = {
  approve: 'approved',
  dismiss: 'dismissed',
  reopen: 'put back',
  comment: 'commented',
  revise: 'revised',
  'request-changes': 'asked for changes to',
  assign: 'assigned',
}

/** Fields of a rejected form, shown again so that they are not lost. */
export type Typed = { reason?: string | undefined; comment?: string | undefined; edit?: TypedEdit | undefined }

export type ShownCandidate = {
  review: CandidateReview
  change: ShownChange
  tests: readonly TestsChange[]
  /** Effects on the answer tests. */
  effects: TestEffects | undefined
  /** Rendered, in the order of the comments. */
  comments: readonly Rendered[]
  /** People to whom the candidate may be assigned. */
  curators: readonly { email: string; name: string }[]
  /** Whether the server sends mails at all. */
  sendsMail: boolean
  params: QueueParams
  isEditing: boolean
  /** Pages that may say the same, where they were asked for. */
  similar?: Similar | undefined
  notice?: HtmlPart
  /** Reason why the decision was rejected. */
  refusal?: HtmlPart
  typed?: Typed
  errors?: { [form in 'edit' | 'dismiss' | 'comment']?: FormErrors }
}

const problems: Partial<Record<ErrorCode, string>> = {
  target_not_found:
    'The page that it changes is not there any more. Dismiss it, or copy what is of use into a new page.',
  target_unreadable: 'The properties of the page that it changes cannot be read. Edit the page first.',
  malformed_request: 'Its properties would be larger than 16 KB. Edit its tags, or dismiss it.',
}

export function candidateHtml(visit: Visit, shown: ShownCandidate): Html {
  const { review, change, params, notice, refusal, typed = {}, errors = {} } = shown
  const { entry, kb, sides } = review
  const isPending = entry.status === 'pending'
  const isEditing = isPending && (shown.isEditing || typed.edit !== undefined || sides.conflict?.isSolvable === true)
  return page(visit, {
    title: `${entry.title} · Queue`,
    islands: ['review'],
    hasCode: true,
    notice,
    main: html`<article class="candidate" data-candidate="${entry.id}">
      ${around(review, params)}
      <header>
        <h1 tabindex="-1" dir="auto">${entry.title}</h1>
        <p>${badges(entry)} ${intentText(entry)} · <a href="${listPath({ ...params, kb: kb.slug })}" dir="auto">${kb.title}</a> ${entry.tags.map((tag) => html`<span class="badge" dir="auto">#${tag}</span> `)}</p>
        <p class="soft">${kindLabels[entry.kind]} · ${confidenceText(entry.confidence)} · from <bdi>${entry.connector}</bdi> by <bdi>${entry.createdBy}</bdi>, ${when(entry.createdAt)}${undoLink(review)}</p>
        ${isPending && entry.kind === 'reader-feedback' && html`<p><a href="${kbPage(kb.slug)}/tests#proposed">Make an answer test of it, or dismiss it</a></p>`}
      </header>
      ${refusal !== undefined && html`<div class="problems" role="alert" tabindex="-1" autofocus>${refusal}</div>`}
      ${sides.problem !== undefined && sides.conflict === undefined && html`<p class="warning">${problems[sides.problem] ?? errorTable[sides.problem].message}</p>`}
      ${sides.movedFrom !== undefined && html`<p class="warning">It moves the page from <code>${sides.movedFrom}</code> to <code>${sides.path}</code>.</p>`}
      ${review.bundle && bundleSection(visit, entry.id, review.bundle, params)}
      ${editConflict(review, typed.edit)}
      ${isEditing && editForm(visit, review, { params, typed: typed.edit, errors: errors.edit })}
      ${!isPending && lostEdit(typed.edit)}
      ${changeSection(change, review, { params, isEditing })}
      ${testsSection(shown.tests)}
      ${decidePanel(visit, review, { params, isEditing, reason: typed.reason, errors: errors.dismiss })}
      <div class="context">
        ${effectsSection(shown.effects, kb.slug)}
        ${fieldSection(review.fields)}
        ${duplicateSection(review.duplicates, params)}
        ${linkSection(review.links, kb.slug)}
        ${similarSection(review, { similar: shown.similar, params })}
        ${talkSection(visit, shown)}
      </div>
    </article>`,
  })
}

function around({ previous, next, count }: CandidateReview, params: QueueParams): Html {
  const link = (id: string | undefined, rel: 'prev' | 'next', label: string) =>
    id === undefined
      ? html`<span class="soft">${label}</span>`
      : html`<a rel="${rel}" href="${candidateUrl(id, params)}" aria-keyshortcuts="${rel === 'next' ? 'j' : 'k'}">${label}</a>`
  return html`<nav class="row around" aria-label="Queue">
    <a href="${listPath(params)}" data-list>Queue</a>
    ${link(previous, 'prev', 'Previous')}
    ${link(next, 'next', 'Next')}
    <span class="soft">${countText(count)} in this filter</span>
    <a href="#decide">Go to the decision</a>
    ${keysHelp()}
  </nav>`
}

function undoLink({ entry, kb, undo }: CandidateReview): Html | undefined {
  if (undo === undefined) return undefined
  const writer = undo.by === 'connector' ? entry.connector : undo.by === 'source' ? 'its Source' : entry.createdBy
  return html` · <a href="${withQuery('/undo', { kb: kb.slug, ...undo })}">Undo what <bdi>${writer}</bdi> brought since…</a>`
}

/** An edit that cannot be used any more is not thrown away. */
function lostEdit(edit: TypedEdit | undefined): Html | undefined {
  if (edit === undefined) return undefined
  return html`<section aria-labelledby="lost-title"><h2 id="lost-title">Your edit, which was not used</h2>
    <pre dir="auto" tabindex="0">${edit.title}\n${edit.tags}\n\n${edit.content}</pre></section>`
}

/** Renders the comments and decisions, with a form to comment. */
function talkSection(visit: Visit, shown: ShownCandidate): Html {
  const { review, comments, params, typed = {}, errors = {} } = shown
  const { entry, steps } = review
  const isPending = entry.status === 'pending'
  const value = typed.comment ?? (isPending ? undefined : typed.reason)
  const rendered = comments.values()
  return html`<section aria-labelledby="talk-title">
    <h2 id="talk-title">Comments and history</h2>
    <ol class="steps">
      <li><bdi>${entry.createdBy}</bdi> proposed it ${when(entry.createdAt)}</li>
      ${steps.map((step) => stepItem(step, isRemark(step) ? rendered.next().value : undefined))}
    </ol>
    ${form(
      visit,
      {
        action: candidateUrl(entry.id, params, {}, 'comment'),
        errors: errors.comment,
        attributes: { id: 'comment', 'data-keep': `comment-${entry.id}` },
      },
      html`<input type="hidden" name="seen" value="${entry.seen}">${textArea({ name: 'comment', label: 'Comment', hint: `Markdown. Other curators see it${shown.sendsMail ? '; those whom you mention, as @ada, get an e-mail' : ''}.`, value, errors: errors.comment, attributes: { maxlength: 10_000, dir: 'auto', rows: 3 } })}
      <div class="row">${button('Comment', { class: 'second' })}
        ${isPending && button('Ask for changes', { class: 'second', formaction: candidateUrl(entry.id, params, {}, 'request-changes') })}</div>`,
    )}
    ${isPending && assignForm(visit, shown)}
  </section>`
}

function assignForm(visit: Visit, { review, curators, params, errors = {} }: ShownCandidate): Html {
  const { id, assignee } = review.entry
  return form(
    visit,
    { action: candidateUrl(id, params, {}, 'assign'), attributes: { class: 'assign' } },
    html`${field({ name: 'assignee', label: 'Assigned to', hint: 'The e-mail of a curator, or the name of a key. Empty: nobody.', value: assignee ?? '', errors: errors.comment, attributes: { maxlength: 300, list: 'curators' } })}
      <datalist id="curators">${curators.map(({ email, name }) => html`<option value="${email}">${name}</option>`)}</datalist>
      <div class="row">${button('Assign', { class: 'second' })}
        ${button('Assign to me', { class: 'second', name: 'me', value: '1' })}</div>`,
  )
}

/** True if the text of the step is Markdown and may mention people. */
export function isRemark({ action }: Pick<ReviewStep, 'action'>): boolean {
  return action === 'comment' || action === 'request-changes'
}

function stepItem({ action, at, by, reason, to }: ReviewStep, comment: Rendered | undefined): Html {
  return html`<li><bdi>${by}</bdi> ${verbs[action]} ${action !== 'comment' && 'it '}${action === 'assign' && html`to <bdi>${to ?? 'nobody'}</bdi> `}${when(at)}
    ${comment !== undefined && content(comment)}
    ${comment === undefined && reason !== undefined && reason !== '' && html`<blockquote dir="auto">${reason}</blockquote>`}</li>`
}

type Deciding = {
  params: QueueParams
  /** Whether the form of an edit is open: approving without it would throw the edit away. */
  isEditing: boolean
  reason: string | undefined
  errors: FormErrors | undefined
}

function decidePanel(visit: Visit, review: CandidateReview, deciding: Deciding): Html {
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
