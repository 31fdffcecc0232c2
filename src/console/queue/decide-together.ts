import type { AppContext } from '../../app/open-context.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { approveCandidate, dismissCandidate, reopenCandidate } from '../../queue/decide-candidate.ts'
import { approveBundle, dismissBundle } from '../../queue/push-bundle.ts'
import { proposeReverse } from '../../review/propose-reverse.ts'
import type { ReviewOutcome } from '../../review/review-candidate.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { button, form, hidden } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { bundleMark, candidateUrl, listPath, maxResults, type QueueParams, type Result } from './view.ts'

type Together = { decision: 'approve' | 'dismiss' | 'reopen' | 'reverse'; reason?: string | undefined }
type Picked = { id: string; seen: string }

/**
 * Decides on each of several candidates separately: a failure does not affect the others.
 * @returns the results as in the list's query, failures first, since the query holds a limited number
 */
export async function decideTogether(
  ctx: AppContext,
  caller: Caller,
  picks: readonly Picked[],
  together: Together,
): Promise<string> {
  const done = await Promise.all(picks.map((pick) => decideOne(ctx, caller, pick, together)))
  const isDone = (result: string) => Number(result.endsWith('.done'))
  const results = done.flat().toSorted((a, b) => isDone(a) - isDone(b))
  return results.slice(0, maxResults).join(',')
}

async function decideOne(
  ctx: AppContext,
  caller: Caller,
  { id, seen }: Picked,
  { decision, reason }: Together,
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
    else if (decision === 'reverse') ids = [await proposeReverse(ctx, caller, id)]
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

/** Renders the confirmation before candidates of the red zone are approved together. @param picks all selected ones, as the list sent them */
export function askRed(
  visit: Visit,
  { red, picks, params }: { red: readonly ReviewOutcome[]; picks: readonly string[]; params: QueueParams },
): Html {
  const isRed = (pick: string) => red.some(({ id }) => pick.startsWith(`${id} `))
  const others = picks.filter((pick) => !isRed(pick))
  const approve = (label: string, some: readonly string[], more = {}) =>
    form(visit, { action: listPath(params) }, [
      hidden({ sure: '1' }),
      some.map((pick) => hidden({ pick })),
      button(label, { name: 'decision', value: 'approve', ...more }),
    ])
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
