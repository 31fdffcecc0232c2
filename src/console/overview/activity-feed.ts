import { candidatePage, kbPage, neuronPage, sourcePage } from '../../contract/console-paths.ts'
import type { ActivityItem } from '../../events/activity-item.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { when } from '../layout/when.ts'
import { counted } from './counts.ts'

/** Things of one kind that one after the other happened in one knowledge base, by one hand; the latest first. */
export type ActivityGroup = [ActivityItem, ...ActivityItem[]]

/** Fewer are told one by one. */
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

/** Takes together what says the same of many things. */
function groupActivity(items: readonly ActivityItem[]): ActivityGroup[] {
  const runs: ActivityGroup[] = []
  for (const item of items) {
    const run = runs.at(-1)
    if (run !== undefined && isAlike(run[0], item)) run.push(item)
    else runs.push([item])
  }
  return runs.flatMap((run) => (run.length < minGroup ? run.map((item): ActivityGroup => [item]) : [run]))
}

function isAlike(one: ActivityItem, other: ActivityItem): boolean {
  return (
    one.kind === other.kind && one.by === other.by && one.kb.slug === other.kb.slug && nouns[one.kind] !== undefined
  )
}

type FeedOptions = {
  now: Date
  /** Whether the knowledge base is named, as where there are several. */
  namesKb: boolean
}

/** What happened, as a list. */
export function activityFeed(items: readonly ActivityItem[], { now, namesKb }: FeedOptions): Html {
  return html`<ol class="feed">
    ${groupActivity(items).map((group) => {
      const [first] = group
      const where = namesKb && html` in <a href="${kbPage(first.kb.slug)}"><bdi>${first.kb.title}</bdi></a>`
      return html`<li class="event ${first.kind === 'ingest.failed' && 'failed'}">
        <p>${group.length === 1 ? sentence(first) : groupSentence(group)}${where} ${when(first.at, now)}</p>
        ${group.length === 1 ? details(first) : members(group)}
      </li>`
    })}
  </ol>`
}

/** What happened, with who did it and a link to what it was done to. */
function sentence(item: ActivityItem): Html {
  return told(item, subjectOf(item))
}

function groupSentence(group: ActivityGroup): Html {
  const [first] = group
  return told(first, html`${counted(group.length, nouns[first.kind] ?? 'thing')}`, true)
}

function told({ kind, by, neurons }: ActivityItem, subject: HtmlPart, isMany = false): Html {
  const actor = by === null ? html`The policy` : html`<bdi class="who">${by ?? 'Somebody'}</bdi>`
  const were = isMany ? 'were' : 'was'
  switch (kind) {
    case 'candidate.created':
      return html`${actor} proposed ${subject}`
    case 'candidate.approved':
      return html`${actor} approved ${subject}`
    case 'candidate.dismissed':
      return html`${actor} dismissed ${subject}`
    case 'candidate.reopened':
      return html`${actor} reopened ${subject}`
    case 'neuron.created':
      return by === undefined ? html`${subject} ${were} added` : html`${actor} added ${subject}`
    case 'neuron.updated':
      return by === undefined ? html`${subject} ${were} changed` : html`${actor} changed ${subject}`
    case 'neuron.deleted':
      return by === undefined ? html`${subject} ${were} removed` : html`${actor} removed ${subject}`
    case 'source.uploaded':
      return html`${actor} uploaded ${subject}`
    case 'ingest.completed':
      return html`${subject} ${were} read${neurons !== undefined && !isMany && `: ${counted(neurons, 'page')}`}`
    case 'ingest.failed':
      return html`${subject} could not be read`
    case 'kb.pushed':
      return html`${actor} pushed with git`
    default:
      return html`${kind}`
  }
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

function details({ kind, kb, subject, reason, problems = [] }: ActivityItem): Html {
  const isPage = kind === 'candidate.approved' && subject !== undefined && 'seqId' in subject && subject.seqId
  return html`${isPage && html`<p class="aside"><a href="${neuronPage(kb.slug, isPage)}">Read the page</a></p>`}
    ${reason && html`<p class="aside" dir="auto">${reason}</p>`}
    ${problems.length > 0 && html`<ul class="aside">${problems.slice(0, 10).map((problem) => html`<li dir="auto">${problem}</li>`)}</ul>`}`
}

function members(group: ActivityGroup): Html {
  return html`<details><summary>Which</summary><ul>${group.map((item) => html`<li>${subjectOf(item)}${item.reason && html`: <span dir="auto">${item.reason}</span>`}</li>`)}</ul></details>`
}
