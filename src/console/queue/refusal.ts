import { type ErrorCode, errorTable } from '../../contract/errors.ts'
import type { Outcome } from '../../review/read-outcome.ts'
import { type Html, html } from '../layout/html.ts'
import { decidedBy } from './outcome-notice.ts'

/** Says why a decision was not made, and what to do now. */
export function refusalText(code: ErrorCode, outcome: Outcome): Html {
  if (code === 'not_pending' && outcome.status !== 'pending')
    return html`<p>${decidedBy(outcome)} before you.</p> <p>Your decision was not made. What you wrote is kept below.</p>`
  if (code === 'stale_head')
    return html`<p>It has changed since you opened it, or the page that it changes has.</p> <p>Nothing was decided: look at it again. What you wrote is kept.</p>`
  if (code === 'merge_conflict')
    return html`<p>The page has changed since, and the changes conflict.</p> <p>Nothing was decided: see below what conflicts.</p>`
  if (code === 'record_full')
    return html`<p>${errorTable.record_full.message}</p> <p>Decide on it without a comment.</p>`
  return html`<p>${errorTable[code].message}</p>`
}
