import { neuronPage } from '../../contract/console-paths.ts'
import type { CandidateKind, CandidateStatus, Zone } from '../../contract/vocabulary.ts'
import type { QueueEntry } from '../../queue/lists/list-queue.ts'
import { numberText } from '../../rules/text/numbers.ts'
import { type Html, html, icon } from '../layout/html-template.ts'
import { listPath, type QueueParams } from './view.ts'

export const kindLabels: Readonly<Record<CandidateKind, string>> = {
  'chat-answer': 'Chat answer',
  'ingest-summary': 'New page from a Source',
  'ingest-page-update': 'Update from a Source',
  'cross-ref-suggestion': 'Suggested link',
  'contradiction-alert': 'Contradiction',
  'gap-detection': 'Gap',
  'user-correction': 'Correction',
  'reader-feedback': 'Reader feedback',
  'external-feed': 'External feed',
  chat: 'Chat',
  'lint-finding': 'Finding',
}

export const statusLabels: Readonly<Record<CandidateStatus, string>> = {
  pending: 'Waiting',
  approved: 'Approved',
  dismissed: 'Dismissed',
}

export const zoneLabels: Readonly<Record<Zone | 'none', string>> = {
  red: 'Red zone',
  yellow: 'Yellow zone',
  green: 'Green zone',
  none: 'No zone',
}

const zoneTones: Readonly<Record<Zone, string>> = { red: 'bad', yellow: 'warn', green: 'good' }
const statusTones: Readonly<Record<CandidateStatus, string>> = {
  pending: 'plain',
  approved: 'good',
  dismissed: 'plain',
}

export function badges({ zone, status }: Pick<QueueEntry, 'zone' | 'status'>): Html {
  return html`${zone !== null && html`<span class="badge ${zoneTones[zone]}">${zoneLabels[zone]}</span> `}
    ${status !== 'pending' && html`<span class="badge ${statusTones[status]}">${statusLabels[status]}</span>`}`
}

/** Renders the end user on whose behalf a candidate was sent, with a link to all that the queue has of them. */
export function endUserLink({ endUser }: Pick<QueueEntry, 'endUser'>, params: QueueParams): Html | undefined {
  if (endUser === null) return undefined
  const { id, name = id } = endUser
  return html` on behalf of <a href="${listPath({ ...params, onBehalfOf: id })}" title="${id}"><bdi>${name}</bdi></a>`
}

/** Names the lines that a request for changes is about, if any. */
export function ofLines({ lines }: { lines?: string | undefined }): string {
  return lines === undefined ? '' : ` (${lines.includes('-') ? 'lines' : 'line'} ${lines.replace('-', '–')})`
}

export function intentText({ kb, intent }: Pick<QueueEntry, 'kb' | 'intent'>): Html {
  if (intent.does === 'add') return html`Adds a new page`
  const verb = intent.does === 'remove' ? 'Removes' : 'Changes'
  if (intent.title === undefined) return html`${verb} <span dir="auto">${intent.seqId}</span>, which is not there`
  return html`${verb} <a href="${neuronPage(kb, intent.seqId)}" dir="auto">${intent.title}</a>`
}

export function confidenceText(confidence: number | null): string {
  return confidence === null ? 'No confidence given' : `Confidence ${percent(confidence)}`
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** Renders why a candidate waits for a curator, or waited. */
export function verdictText({
  reason,
  isHeldBack,
  status,
}: Pick<QueueEntry, 'reason' | 'isHeldBack' | 'status'>): Html {
  const said = html`<span dir="auto">${plainReason(reason).replaceAll('`', '')}</span>`
  if (!isHeldBack) return html`Why it ${status === 'pending' ? 'waits' : 'waited'}: ${said}.`
  return html`The policy would approve it (${said}), but it conflicts, shows the page to more readers or takes comments away: a curator decides.`
}

/** True if the reason says more than the zone and the confidence, which are shown next to it. */
export function saysMore({ reason, isHeldBack }: Pick<QueueEntry, 'reason' | 'isHeldBack'>): boolean {
  return isHeldBack || plainReason(reason) === reason
}

/** Rewrites the policy's reason for people who do not know its settings. */
function plainReason(reason: string): string {
  const [, zone] = /^zone (red|yellow)$/.exec(reason) ?? []
  if (zone !== undefined) return `a curator decides on everything in the ${zone} zone`
  const [, confidence] = /^confidence ([\d.]+) is below every threshold$/.exec(reason) ?? []
  if (confidence !== undefined)
    return `its confidence of ${percent(Number(confidence))} is too low to approve it by itself`
  return reason === 'no confidence given' ? 'its sender did not say how sure it is' : reason
}

export function warningList(warnings: readonly string[]): Html | undefined {
  if (warnings.length === 0) return undefined
  return html`<ul class="warnings">${warnings.map((warning) => html`<li dir="auto">${warning}</li>`)}</ul>`
}

/** Returns a count as text. Counts stop at 10,000. */
export function countText(count: number): string {
  return count > 10_000 ? '10,000+' : numberText(count)
}

const keys: readonly [key: string, does: string][] = [
  ['j', 'Next candidate'],
  ['k', 'Previous candidate'],
  ['o', 'Open the candidate, or the first in the list (Enter opens the one in focus)'],
  ['x', 'Select the candidate in the list'],
  ['n', 'Next change of the candidate'],
  ['p', 'Previous change'],
  ['a', 'Approve'],
  ['d', 'Dismiss: type a reason, Enter sends it'],
  ['e', 'Edit before approving'],
  ['c', 'Comment: Ctrl+Enter sends it, Ctrl+Shift+Enter asks for changes'],
  ['u', 'Undo the last decision'],
  ['?', 'Show this help'],
]

/** Renders the list of keys and the switch that turns them off. Shown only if scripts run, since they handle the keys. */
export function keysHelp(): Html {
  return html`<div class="keys with-scripts" data-keys>
    <button type="button" class="quiet" data-keys-open>${icon('keyboard')} Keyboard shortcuts</button>
    <dialog aria-labelledby="keys-title">
      <h2 id="keys-title">Keyboard shortcuts</h2>
      <table>
        <thead><tr><th scope="col">Key</th><th scope="col">What it does</th></tr></thead>
        <tbody>${keys.map(([key, does]) => html`<tr><td><kbd>${key}</kbd></td><td>${does}</td></tr>`)}</tbody>
      </table>
      <p>Keys work outside of text fields, without Ctrl, Alt or Cmd.</p>
      <div class="row">
        <button type="button" class="second" data-keys-switch aria-pressed="true">Shortcuts are on</button>
        <form method="dialog"><button type="submit">Close</button></form>
      </div>
    </dialog>
  </div>
  <div class="unseen" role="status" aria-live="polite" data-announce></div>`
}
