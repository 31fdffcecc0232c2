import { neuronPage } from '../../contract/console-paths.ts'
import { errorTable, type GanglionError } from '../../contract/errors.ts'
import type { CandidateReview, ReviewOutcome } from '../../review/review-candidate.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { button, form, hidden } from '../layout/form.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import type { Visit } from '../layout/page.ts'
import { statusLabels } from './entry-parts.ts'
import { candidateUrl, listPath, maxResults, type QueueParams, type Result } from './view.ts'

/** Renders the next step of a change that was just proposed. Undefined if it has been decided since, in another tab. */
export function proposedNotice(
  { session }: Visit,
  { entry, awaiting }: Pick<CandidateReview, 'entry' | 'awaiting'>,
): Html | undefined {
  if (entry.status !== 'pending') return undefined
  if (awaiting !== undefined)
    return html`<p>Proposed. The page changes once this is approved. ${awaitingText(awaiting, [session.user.email])}</p>`
  return html`<p>Proposed. The page changes once a curator approves this: you, or somebody else.</p>`
}

/** Renders the outcome of the latest decision, with a button to undo it. */
export function outcomeNotice(visit: Visit, outcome: ReviewOutcome, params: QueueParams): Html {
  const { id, title, status } = outcome
  const name = html`<a href="${candidateUrl(id, params)}"><bdi>${title}</bdi></a>`
  if (outcome.isVoted) return html`<p>Your approval of ${name} is recorded. Others have to approve it, too.</p>`
  if (outcome.isRevised) return html`<p>Your version of ${name} is saved. Others have to approve it.</p>`
  if (status === 'pending') return html`<p>${name} waits in the queue again.</p>`
  return html`<div class="row decided">
    <p>${statusLabels[status]} ${name}. ${seeIt(outcome)}</p>
    ${undoForm(visit, outcome, params)}
  </div>`
}

function seeIt({ kb, seqId, isRemoval }: ReviewOutcome): Html | undefined {
  if (seqId === undefined || isRemoval) return undefined
  return html`<a href="${neuronPage(kb, seqId)}">See the page</a>`
}

/**
 * Renders the button that undoes a decision. A dismissed candidate is put back. An approval stays in the history for good: undoing it is a
 * new candidate.
 */
export function undoForm(
  visit: Visit,
  { id, status }: Pick<ReviewOutcome, 'id' | 'status'>,
  params: QueueParams,
): Html {
  const action = candidateUrl(id, params, {}, status === 'dismissed' ? 'reopen' : 'reverse')
  const label = status === 'dismissed' ? 'Undo: put it back' : 'Undo: propose the reverse'
  return form(visit, { action, attributes: { class: 'undo' } }, button(label, { class: 'second', 'data-undo': true }))
}

function decidedBy({ status, by, at }: ReviewOutcome): Html {
  const verb = status === 'approved' ? 'approved' : 'dismissed'
  return html`<strong dir="auto">${by ?? 'Somebody'}</strong> ${verb} it ${at !== undefined && when(at)}`
}

/** Renders why a decision was rejected, and what to do now. */
export function refusalText({ code, message }: Pick<GanglionError, 'code' | 'message'>, outcome: ReviewOutcome): Html {
  if (code === 'not_pending' && outcome.status !== 'pending')
    return html`<p>${decidedBy(outcome)} before you.</p> <p>Your decision was not made. What you wrote is kept below.</p>`
  if (code === 'stale_head')
    return html`<p>It has changed since you opened it, or the page that it changes has.</p> <p>Nothing was decided: look at it again. What you wrote is kept.</p>`
  if (code === 'merge_conflict' && message !== errorTable.merge_conflict.message)
    return html`<p>${message}</p> <p>Nothing was decided. What you wrote is kept.</p>`
  if (code === 'merge_conflict')
    return html`<p>The page has changed since, and the changes conflict.</p> <p>Nothing was decided: see below what conflicts.</p>`
  if (code === 'approval_needed') return html`<p>${message}</p> <p>Nothing was decided. What you wrote is kept.</p>`
  if (code === 'record_full')
    return html`<p>${errorTable.record_full.message}</p> <p>Decide on it without a comment.</p>`
  return html`<p>${errorTable[code].message}</p>`
}

/** Renders the results of decisions on several candidates: those that were not made each, and one button to undo the others. */
export function togetherNotice(
  visit: Visit,
  decided: readonly { outcome: ReviewOutcome; result: Result }[],
  params: QueueParams,
): Html {
  const done = decided.flatMap(({ outcome, result }) => (result === 'done' ? [outcome] : []))
  const failed = decided.filter(({ result }) => result !== 'done')
  const all = decided.length < maxResults ? html`${done.length} of ${decided.length}` : html`${done.length} or more`
  const voted = done.filter(({ isVoted }) => isVoted).length
  const waiting = done.filter(({ status }) => status === 'pending').length - voted
  return html`<div class="row decided"><h2>${all} done</h2>
      ${voted > 0 && html`<p>${voted} approved by you; others have to approve them, too.</p>`}
      ${waiting > 0 && html`<p>${waiting} in the queue.</p>`}
      ${decided.length < maxResults && undoTogether(visit, done, params)}</div>
    ${
      failed.length > 0 &&
      html`<ul class="results">${failed.map(
        ({ outcome, result }) =>
          html`<li><a href="${candidateUrl(outcome.id, params)}" dir="auto">${outcome.title}</a>: ${resultText(outcome, result)}</li>`,
      )}</ul>`
    }`
}

/** Renders the button that puts dismissed candidates back, or proposes the reverse of approved ones. */
function undoTogether(visit: Visit, done: readonly ReviewOutcome[], params: QueueParams): Html | undefined {
  const [approved = [], dismissed = []] = (['approved', 'dismissed'] as const).map((status) =>
    done.filter((outcome) => outcome.status === status),
  )
  const some = approved.length > 0 ? approved : dismissed
  if (some.length === 0) return undefined
  const label = `Undo ${some.length === 1 ? 'it' : `these ${some.length}`}`
  return form(visit, { action: listPath(params), attributes: { class: 'undo' } }, [
    some.map(({ id }) => hidden({ pick: `${id} -` })),
    button(label, { class: 'second', name: 'decision', value: approved.length > 0 ? 'reverse' : 'reopen' }),
  ])
}

function resultText(outcome: ReviewOutcome, result: Result): Html {
  if (result === 'conflict')
    return html`not approved, since the page has changed and the changes conflict. Open it to solve that.`
  if (result === 'changed') return html`not decided, since it or its page has changed since you saw it. Look again.`
  if (result === 'decided' && outcome.status !== 'pending') return html`${decidedBy(outcome)} before you.`
  return html`not decided. Open it to see why.`
}
