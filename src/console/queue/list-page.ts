import { candidateKinds } from '../../contract/vocabulary.ts'
import type { FailingLink } from '../../forge/bridge/manage-links.ts'
import type { QueueCounts, QueueEntry, QueuePage } from '../../queue/lists/list-queue.ts'
import { button, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { liveNotice } from '../layout/live-notice.ts'
import { page } from '../layout/page.ts'
import type { Visit } from '../layout/visit.ts'
import { when } from '../layout/when.ts'
import {
  badges,
  confidenceText,
  countText,
  intentText,
  kindLabels,
  statusLabels,
  verdictText,
  warningList,
  zoneLabels,
} from './entry-parts.ts'
import { keysHelp } from './keys-help.ts'
import { candidateUrl, listPath, type QueueParams } from './view.ts'

export type ListPage = {
  queue: QueuePage
  failingLinks: readonly FailingLink[]
  params: QueueParams
  /** Where this page begins, for the links that come back to it. */
  place: { after?: string | undefined; before?: string | undefined }
  /** Whether all candidates of the page are ticked. */
  isAllPicked: boolean
  notice?: HtmlPart
  /** What is wrong with the decision that was sent, and the reason that was typed. */
  problem?: string
  reason?: string
}

/** What waits, the most urgent first. */
export function queueListPage(visit: Visit, list: ListPage): Html {
  const { queue, params, notice, place } = list
  const { status = 'pending', kb } = params
  const isLive = status === 'pending' && place.after === undefined && place.before === undefined
  return page(visit, {
    title: 'Queue',
    islands: ['review', ...(isLive ? ['live'] : [])],
    notice,
    main: html`<h1>Queue</h1>
      <p class="hint">Proposed changes to pages. Open one to see what it changes, then approve or dismiss it.</p>
      ${list.failingLinks.map(failingNotice)}
      ${queue.unavailable.map((slug) => html`<p class="warning">The queue of ${slug} cannot be read. Ask your administrator to look at Health.</p>`)}
      ${keysHelp()}
      ${filterForm(queue, params)}
      ${zoneLinks(queue.counts, params)}
      ${isLive && liveNotice({ kinds: 'candidate.created', kb, path: listPath(params) })}
      ${queue.entries.length === 0 ? nothingHere(params) : entryForm(visit, list)}`,
  })
}

function failingNotice({ kb, url, failingSince }: FailingLink): Html {
  return html`<p class="warning">Since ${when(failingSince)}, ${kb} could not be compared with <a href="${url}" rel="noreferrer">its pull
    requests</a>: what was decided there is not here yet. The server goes on trying.</p>`
}

function filterForm({ counts, connectors, knowledgeBases }: QueuePage, params: QueueParams): Html {
  const { kb, status = 'pending', kind, connector, tag, text, zone, show } = params
  const statuses = (['pending', 'approved', 'dismissed'] as const).map((value) => ({
    value,
    label: `${statusLabels[value]} (${countText(counts.status[value])})`,
  }))
  const names = connector === undefined || connectors.includes(connector) ? connectors : [connector, ...connectors]
  return html`<form class="filters" action="/queue" role="search" aria-label="Filter the queue">
    ${choice('status', 'Status', status, [...statuses, { value: 'any', label: 'Any' }])}
    ${
      knowledgeBases.length > 1 &&
      choice('kb', 'Knowledge base', kb, [
        { value: '', label: 'All' },
        ...knowledgeBases.map(({ slug, title }) => ({ value: slug, label: title })),
      ])
    }
    ${choice('kind', 'Kind', kind, [{ value: '', label: 'All' }, ...candidateKinds.map((value) => ({ value, label: kindLabels[value] }))])}
    ${choice('connector', 'From', connector, [{ value: '', label: 'All' }, ...names.map((value) => ({ value, label: value }))])}
    ${entry('tag', 'Tag', tag)}
    ${entry('text', 'Words', text)}
    ${zone !== undefined && html`<input type="hidden" name="zone" value="${zone}">`}
    ${show !== undefined && html`<input type="hidden" name="show" value="${show}">`}
    <div class="row"><button type="submit">Filter</button> ${isFiltered(params) && html`<a href="/queue">Clear filters</a>`}</div>
  </form>`
}

type Choice = { value: string; label: string }

function choice(name: string, label: string, value: string | undefined, choices: readonly Choice[]): Html {
  return html`<div><label for="filter-${name}">${label}</label>
    <select id="filter-${name}" name="${name}">${choices.map(
      (each) =>
        html`<option value="${each.value}"${each.value === (value ?? '') && html` selected`}>${each.label}</option>`,
    )}</select></div>`
}

function entry(name: string, label: string, value: string | undefined): Html {
  return html`<div><label for="filter-${name}">${label}</label>
    <input id="filter-${name}" name="${name}" value="${value ?? ''}" dir="auto" autocomplete="off"></div>`
}

function isFiltered({ show: _, status, ...others }: QueueParams): boolean {
  return (status !== undefined && status !== 'pending') || Object.values(others).some((value) => value !== undefined)
}

function zoneLinks({ zone: counts }: QueueCounts, params: QueueParams): Html {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const link = (zone: QueueParams['zone'], label: string, count: number) => html`<li>
    <a href="${listPath({ ...params, zone })}"${params.zone === zone && html` aria-current="true"`}>${label} <span class="count">${countText(count)}</span></a>
  </li>`
  return html`<nav aria-label="Zones"><ul class="tabs">
    ${link(undefined, 'All', all)}
    ${(['red', 'yellow', 'green', 'none'] as const).map((zone) => link(zone, zoneLabels[zone], counts[zone]))}
  </ul></nav>`
}

function nothingHere(params: QueueParams): Html {
  if (isFiltered(params))
    return html`<p class="empty">No candidate passes these filters. <a href="/queue">Show all that wait</a></p>`
  return html`<p class="empty">Nothing waits. New candidates come from Sources, chat, feedback and the API. <a href="/activity">See what happened last</a></p>`
}

function entryForm(visit: Visit, { queue, params, place, isAllPicked, problem, reason }: ListPage): Html {
  const action = listPath(params, place)
  return form(
    visit,
    { action, attributes: { class: 'bulk', 'data-bulk': true }, ...(problem && { errors: { formErrors: [problem] } }) },
    html`${bulkBar(params, { place, isAllPicked, reason })}
      <ol class="entries" data-entries>${queue.entries.map((each) => row(each, params, isAllPicked))}</ol>
      ${pager(queue, params)}`,
  )
}

function bulkBar(
  params: QueueParams,
  { place, isAllPicked, reason }: Pick<ListPage, 'place' | 'isAllPicked'> & { reason: string | undefined },
): Html {
  const { status = 'pending' } = params
  const toggle = listPath(params, { ...place, pick: isAllPicked ? undefined : 'all' })
  return html`<fieldset class="bulk-bar">
    <legend>Decide together</legend>
    <a class="button second" href="${toggle}" data-pick-all>${isAllPicked ? 'Select none' : 'Select all on this page'}</a>
    ${
      (status === 'pending' || status === 'any') &&
      // Enter in the reason sends the first button.
      html`<div class="reason"><label for="bulk-reason">Reason to dismiss (optional)</label>
        <input id="bulk-reason" name="reason" maxlength="2000" dir="auto" autocomplete="off" value="${reason ?? ''}"></div>
      ${button('Dismiss selected', { name: 'decision', value: 'dismiss', class: 'danger' })}
      ${button('Approve selected', { name: 'decision', value: 'approve' })}`
    }
    ${(status === 'dismissed' || status === 'any') && button('Put selected back', { name: 'decision', value: 'reopen', class: 'second' })}
  </fieldset>`
}

function row(each: QueueEntry, params: QueueParams, isPicked: boolean): Html {
  const { id, kb, title, kind, status, confidence, connector, createdAt, createdBy, tags, warnings } = each
  const isDecided = status === 'approved'
  return html`<li class="entry" data-entry>
    <div class="pick">${
      !isDecided &&
      html`<input type="checkbox" id="pick-${id}" name="pick" value="${id} ${each.seen}" aria-label="Select ${title}"${isPicked && html` checked`}>`
    }</div>
    <div class="what">
      <h2><a href="${candidateUrl(id, params)}" dir="auto" data-open>${title}</a></h2>
      <p>${badges(each)} ${intentText(each)}${tags.slice(0, 8).map((tag) => html` <a class="badge" href="${listPath({ ...params, tag })}" dir="auto">#${tag}</a>`)}</p>
      <p class="soft">${kindLabels[kind]} · ${confidenceText(confidence)} · <bdi>${kb}</bdi> · from <bdi>${connector}</bdi> by <bdi>${createdBy}</bdi>, ${when(createdAt)}</p>
      <p class="soft">${verdictText(each)}</p>
      ${warningList(warnings)}
    </div>
  </li>`
}

function pager({ previous, next }: QueuePage, params: QueueParams): Html | undefined {
  if (previous === null && next === null) return undefined
  return html`<nav class="row" aria-label="Pages">
    ${previous !== null && html`<a class="button second" rel="prev" href="${listPath(params, { before: previous })}">Previous page</a>`}
    ${next !== null && html`<a class="button second" rel="next" href="${listPath(params, { after: next })}">Next page</a>`}
  </nav>`
}
