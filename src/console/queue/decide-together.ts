import type { AppContext } from '../../app/open-context.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { approveCandidate } from '../../queue/approve-candidate.ts'
import { dismissCandidate, reopenCandidate } from '../../queue/decide-candidate.ts'
import { approveBundle, dismissBundle } from '../../queue/push-bundle.ts'
import type { ReviewOutcome } from '../../review/read-outcome.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { button, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { decidedBy, undoForm } from './outcome-notice.ts'
import { candidateUrl, listPath, maxResults, type QueueParams, type Result } from './view.ts'

export type Together = {
  decision: 'approve' | 'dismiss' | 'reopen'
  picks: readonly Picked[]
  reason?: string | undefined
}
type Picked = { id: string; seen: string }

/**
 * Decides on each of several candidates on its own: none waits for another, or fails with it.
 * @returns what came of each, as the list's query holds it: failures first, since it holds so many
 */
export async function decideTogether(
  ctx: AppContext,
  caller: Caller,
  { picks, ...together }: Together,
): Promise<string> {
  const done = await Promise.all(picks.map((pick) => decideOne(ctx, caller, pick, together)))
  const isDone = (result: string) => Number(result.endsWith('.done'))
  const results = done.flat().toSorted((a, b) => isDone(a) - isDone(b))
  return results.slice(0, maxResults).join(',')
}

/** Prefix of the `seen` of a bundle, in place of that of a candidate. */
export const bundleMark = 'bundle:'

async function decideOne(
  ctx: AppContext,
  caller: Caller,
  { id, seen }: Picked,
  { decision, reason }: Omit<Together, 'picks'>,
): Promise<string[]> {
  const given = reason === undefined ? {} : { reason }
  try {
    let ids = [id]
    if (seen.startsWith(bundleMark)) {
      const judged = { candidateId: id, seen: seen.slice(bundleMark.length) }
      if (decision === 'approve') ids = await approveBundle(ctx, caller, judged)
      if (decision === 'dismiss') ids = await dismissBundle(ctx, caller, { ...judged, ...given })
    } else if (decision === 'approve') await approveCandidate(ctx, caller, id, { seen })
    else if (decision === 'reopen') await reopenCandidate(ctx, caller, id)
    else await dismissCandidate(ctx, caller, id, { seen, ...given })
    return ids.map((each) => `${each}.done`)
  } catch (error) {
    return conflicting(error, id).map((each) => `${each}.${failureOf(error)}`)
  }
}

/** Returns the members of a bundle that conflict with `main`, or the candidate itself. */
function conflicting(error: unknown, id: string): string[] {
  const { candidates } = error instanceof GanglionError ? error.details : {}
  return Array.isArray(candidates) && candidates.length > 0 ? candidates.map(String) : [id]
}

function failureOf(error: unknown): Result {
  if (error instanceof ValidationError) return 'failed'
  if (!(error instanceof GanglionError) || error.status >= 500) throw error
  if (error.code === 'merge_conflict') return 'conflict'
  if (error.code === 'stale_head') return 'changed'
  return error.code === 'not_pending' || error.code === 'not_dismissed' ? 'decided' : 'failed'
}

/** Asks before candidates of the red zone are approved with others, unread. `picks`: all that were selected, as the list sent them. */
export function askRed(
  visit: Visit,
  { red, picks, params }: { red: readonly ReviewOutcome[]; picks: readonly string[]; params: QueueParams },
): Html {
  const isRed = (pick: string) => red.some(({ id }) => pick.startsWith(`${id} `))
  const others = picks.filter((pick) => !isRed(pick))
  const approve = (label: string, some: readonly string[], more = {}) =>
    form(
      visit,
      { action: listPath(params) },
      html`<input type="hidden" name="sure" value="1">${some.map((pick) => html`<input type="hidden" name="pick" value="${pick}">`)}
      ${button(label, { name: 'decision', value: 'approve', ...more })}`,
    )
  return page(visit, {
    title: 'Approve the red zone?',
    main: html`<h1>Approve the red zone?</h1>
      <p>You selected ${picks.length}, of which these are in the red zone. Open each, and check it with care:</p>
      <ul>${red.map(({ id, title }) => html`<li><a href="${candidateUrl(id, params)}" dir="auto">${title}</a></li>`)}</ul>
      <div class="row">
        ${others.length > 0 && approve(`Approve the other ${others.length}`, others)}
        ${approve(`Approve all ${picks.length}`, picks, { class: 'danger' })}
        <a class="button second" href="${listPath(params)}">Back to the queue</a>
      </div>`,
  })
}

export function togetherNotice(
  visit: Visit,
  decided: readonly { outcome: ReviewOutcome; result: Result }[],
  params: QueueParams,
): Html {
  const count = decided.filter(({ result }) => result === 'done').length
  const all = decided.length < maxResults ? html`${count} of ${decided.length}` : html`${count} or more`
  return html`<h2>${all} done</h2>
    <ul class="results">${decided.map(
      ({ outcome, result }) => html`<li class="row">
        <span><a href="${candidateUrl(outcome.id, params)}" dir="auto">${outcome.title}</a>: ${resultText(outcome, result)}</span>
        ${result === 'done' && outcome.status === 'dismissed' && undoForm(visit, outcome, params)}
      </li>`,
    )}</ul>`
}

function resultText(outcome: ReviewOutcome, result: Result): Html {
  if (result === 'conflict')
    return html`not approved, since the page has changed and the changes conflict. Open it to solve that.`
  if (result === 'changed') return html`not decided, since it or its page has changed since you saw it. Look again.`
  if (result === 'failed') return html`not decided. Open it to see why.`
  if (result === 'decided' && outcome.status !== 'pending') return html`${decidedBy(outcome)} before you.`
  if (outcome.isVoted) return html`approved by you; others have to approve it, too.`
  if (outcome.status === 'pending') return html`waits in the queue again.`
  return html`${outcome.status}.`
}
