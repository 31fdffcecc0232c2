import { candidatePage, kbPage, neuronPage, sourcePage } from '../../contract/console-paths.ts'
import type { ActivityItem } from '../../events/activity-item.ts'
import { counted, numberText } from '../../rules/text/numbers.ts'
import { type Html, type HtmlPart, html, when } from '../layout/html-template.ts'
import { withQuery } from '../layout/page-routes.ts'

/** Events of one kind by one author in one knowledge base within an hour, latest first. `isCut`: there may be more of them. */
type ActivityGroup = { items: [ActivityItem, ...ActivityItem[]]; isCut: boolean }

/** Minimum number of events that form a group. */
const minGroup = 3

const nouns: Partial<Record<ActivityItem['kind'], string>> = {
  'candidate.created': 'change',
  'candidate.approved': 'change',
  'candidate.dismissed': 'change',
  'candidate.reopened': 'change',
  'neuron.created': 'page',
  'neuron.updated': 'page',
  'neuron.deleted': 'page',
  'source.uploaded': 'Source',
  'ingest.completed': 'Source',
  'ingest.failed': 'Source',
}

/** Groups events of the same kind and author, even if events of others are between them. */
function groupActivity(items: readonly ActivityItem[], hasOlder: boolean): ActivityGroup[] {
  const last = items.at(-1)
  const groups = [...Map.groupBy(items, keyOf)].flatMap(([, [first, ...others]]): ActivityGroup[] => {
    if (first === undefined) return []
    const isGroup = nouns[first.kind] !== undefined && others.length + 1 >= minGroup
    if (!isGroup) return [first, ...others].map((item) => ({ items: [item], isCut: false }))
    return [{ items: [first, ...others], isCut: hasOlder && hourOf(first) === (last && hourOf(last)) }]
  })
  return groups.sort(({ items: [one] }, { items: [other] }) => other.id - one.id)
}

function keyOf(item: ActivityItem): string {
  return JSON.stringify([item.kind, item.by === undefined ? '' : [item.by], item.kb.slug, hourOf(item)])
}

function hourOf({ at }: ActivityItem): string {
  return at.slice(0, 'YYYY-MM-DDTHH'.length)
}

type FeedOptions = {
  now?: Date
  /** True if the knowledge base is named. */
  namesKb: boolean
  /** True if there are older events. */
  hasOlder?: boolean
  /** Maximum lines that are shown. */
  most?: number
}

const maxNamed = 50

export function activityFeed(
  items: readonly ActivityItem[],
  { now, namesKb, hasOlder = false, most }: FeedOptions,
): Html {
  return html`<ol class="feed">
    ${groupActivity(items, hasOlder)
      .slice(0, most)
      .map((group) => {
        const { items: all } = group
        const [first] = all
        const where = namesKb && html` in <a href="${kbPage(first.kb.slug)}"><bdi>${first.kb.title}</bdi></a>`
        return html`<li class="event ${first.kind === 'ingest.failed' && 'failed'}">
        <p>${all.length === 1 ? told(first, subjectOf(first)) : groupSentence(group)}${where} ${when(first.at, now)}</p>
        ${all.length === 1 ? details(first) : members(all)}
      </li>`
      })}
  </ol>`
}

function groupSentence({ items: { length, 0: first }, isCut }: ActivityGroup): Html {
  const noun = nouns[first.kind] ?? 'thing'
  return told(first, isCut ? `${numberText(length)} ${noun}s or more` : counted(length, noun), true)
}

/** Action of the author on the subject of an event. */
const verbs: Partial<Record<ActivityItem['kind'], string>> = {
  'candidate.created': 'proposed',
  'candidate.approved': 'approved',
  'candidate.dismissed': 'dismissed',
  'candidate.reopened': 'reopened',
  'neuron.created': 'added',
  'neuron.updated': 'changed',
  'neuron.deleted': 'removed',
  'source.uploaded': 'uploaded',
}

function told({ kind, by, neurons }: ActivityItem, subject: HtmlPart, isMany = false): Html {
  const actor = by === null ? html`The policy` : html`<bdi class="who">${by ?? 'Somebody'}</bdi>`
  const were = isMany ? 'were' : 'was'
  const verb = verbs[kind]
  if (verb !== undefined && kind.startsWith('neuron.') && by === undefined) return html`${subject} ${were} ${verb}`
  if (verb !== undefined) return html`${actor} ${verb} ${subject}`
  if (kind === 'ingest.completed')
    return html`${subject} ${were} read${neurons !== undefined && !isMany && `: ${counted(neurons, 'page')}`}`
  if (kind === 'ingest.failed') return html`${subject} could not be read`
  return kind === 'kb.pushed' ? html`${actor} pushed with git` : html`${kind}`
}

function subjectOf({ kind, kb, subject }: ActivityItem): Html {
  if (subject === undefined) return html`something that is gone`
  const { title } = subject
  const name = html`<bdi>${title}</bdi>`
  if ('documentId' in subject) return html`<a href="${sourcePage(kb.slug, subject.documentId)}">${name}</a>`
  if (subject.candidateId !== undefined) return html`<a href="${candidatePage(subject.candidateId)}">${name}</a>`
  if (kind === 'neuron.deleted') return html`<em>${name}</em>`
  return html`<a href="${neuronPage(kb.slug, subject.seqId)}">${name}</a>`
}

function details(item: ActivityItem): Html {
  const { kind, kb, subject, reason, problems = [] } = item
  const seqId = kind === 'candidate.approved' ? subject?.seqId : undefined
  const read = seqId !== undefined && html`<a href="${neuronPage(kb.slug, seqId)}">Read the page</a>`
  const undo = undoLink(item)
  return html`${(read || undo) && html`<p class="aside">${read}${undo}</p>`}
    ${reason && html`<p class="aside" dir="auto">${reason}</p>`}
    ${problems.length > 0 && html`<ul class="aside">${problems.slice(0, 10).map((problem) => html`<li dir="auto">${problem}</li>`)}</ul>`}`
}

function undoLink({ kb, subject, undo }: ActivityItem): Html | undefined {
  if (undo === undefined) return undefined
  return html` <a href="${withQuery('/undo', { kb: kb.slug, ...undo })}">Undo…<span class="unseen"> ${subject?.title}</span></a>`
}

function members(group: readonly ActivityItem[]): Html {
  return html`<details><summary>Which</summary><ul>${group.slice(0, maxNamed).map((item) => html`<li>${subjectOf(item)}${undoLink(item)}${item.reason && html`: <span dir="auto">${item.reason}</span>`}</li>`)}
    ${group.length > maxNamed && html`<li>and ${numberText(group.length - maxNamed)} more</li>`}</ul></details>`
}
