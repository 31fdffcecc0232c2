import { neuronPage } from '../../contract/console-paths.ts'
import type { CandidateKind, CandidateStatus, Zone } from '../../contract/vocabulary.ts'
import type { QueueEntry } from '../../services/queue/list-queue.ts'
import { type Html, html } from '../layout/html.ts'

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

/** What a candidate does to the knowledge base, in a few words. */
export function intentText({ kb, intent }: Pick<QueueEntry, 'kb' | 'intent'>): Html {
  if (intent.does === 'add') return html`Adds a new page`
  const verb = intent.does === 'remove' ? 'Removes' : 'Changes'
  if (intent.title === undefined) return html`${verb} <span dir="auto">${intent.seqId}</span>, which is not there`
  return html`${verb} <a href="${neuronPage(kb, intent.seqId)}" dir="auto">${intent.title}</a>`
}

export function confidenceText(confidence: number | null): string {
  return confidence === null ? 'No confidence given' : `Confidence ${Math.round(confidence * 100)} %`
}

/** Why a candidate waits for a curator. */
export function verdictText({ reason, isHeldBack }: Pick<QueueEntry, 'reason' | 'isHeldBack'>): Html {
  if (isHeldBack)
    return html`The policy would approve it (<span dir="auto">${reason}</span>), but it conflicts, shows the page to more readers or takes comments away: a curator decides.`
  return html`Policy: <span dir="auto">${reason}</span>.`
}

export function warningList(warnings: readonly string[]): Html | undefined {
  if (warnings.length === 0) return undefined
  return html`<ul class="warnings">${warnings.map((warning) => html`<li dir="auto">${warning}</li>`)}</ul>`
}

/** Counts stop at 10,000. */
export function countText(count: number): string {
  return count > 10_000 ? '10,000+' : count.toLocaleString('en')
}
