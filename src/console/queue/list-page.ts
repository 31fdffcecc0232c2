import { listProposedTests } from '../../answer-tests/proposed-tests.ts'
import type { AppContext } from '../../app/open-context.ts'
import { kbPage } from '../../contract/console-paths.ts'
import { type FailingLink, listFailingLinks } from '../../forge/bridge/manage-links.ts'
import { unlessUnavailable } from '../../kb/failure.ts'
import type { KbLabel } from '../../kb/readable-kb.ts'
import { listQueue, type QueueCounts, type QueueEntry, type QueuePage } from '../../queue/lists/list-queue.ts'
import { readOutcome } from '../../review/review-candidate.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { counted } from '../../rules/text/numbers.ts'
import { button, type Choice, choicesOf, form, hidden } from '../layout/form.ts'
import { type Html, html, icon, when } from '../layout/html-template.ts'
import { filterChip, liveNotice, savedFilter, wordsFilter } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import type { ConsoleRequest, PageAnswer } from '../layout/page-routes.ts'
import {
  badges,
  countText,
  endUserLink,
  intentText,
  keysHelp,
  kindLabels,
  ofLines,
  percent,
  saysMore,
  statusLabels,
  verdictText,
  warningList,
  zoneLabels,
} from './entry-parts.ts'
import { outcomeNotice, togetherNotice } from './outcome-notice.ts'
import { bundleMark, candidateUrl, type ListParams, listPath, pageLength, type QueueParams, viewOf } from './view.ts'

type ListPage = {
  queue: QueuePage
  params: QueueParams
  /** Cursor of this page of the list. */
  place: { after?: string | undefined; before?: string | undefined }
  isAllPicked: boolean
}

/** A rejected decision on several candidates: why, and the reason to dismiss that was typed. */
type Failed = { problem: string; reason: string }

export async function queueList(
  ctx: AppContext,
  { visit, caller, query }: ConsoleRequest<unknown, ListParams>,
  failed?: Failed,
): Promise<PageAnswer> {
  const { after, before, pick, done, did = [], ...params } = query
  const { kb, for: whose, kind, tag, assignee, onBehalfOf, text, status = 'pending' } = params
  // These filters can match a part of a bundle, so its members are listed one by one.
  const bundles = (whose ?? kind ?? tag ?? assignee ?? onBehalfOf ?? text) === undefined
  const queue = await listQueue(ctx, caller, { ...viewOf(params), after, before, bundles, limit: pageLength })
  const failingLinks = await listFailingLinks(ctx, caller, kb)
  const proposed = await proposedNote(ctx, caller, queue.knowledgeBases, params)
  const outcomes = await Promise.all(
    did.map(async ([id, result]) => ({ outcome: await readOutcome(ctx, caller, id), result })),
  )
  const list = { queue, params, place: { after, before }, isAllPicked: pick !== undefined }
  const isLive = status === 'pending' && after === undefined && before === undefined
  const markup = page(visit, {
    title: 'Queue',
    islands: ['review', ...(isLive ? ['live'] : [])],
    notice:
      outcomes.length > 0
        ? togetherNotice(visit, outcomes, params)
        : done !== undefined && outcomeNotice(visit, await readOutcome(ctx, caller, done), params),
    main: html`<div class="headline"><h1>Queue</h1>
        ${isLive && liveNotice({ kinds: 'candidate.created', kb, path: listPath(params) })}${keysHelp()}</div>
      ${failingLinks.map(failingNotice)}
      ${proposed}
      ${queue.unavailable.map((slug) => html`<p class="warning">The queue of ${slug} cannot be read. Ask your administrator to look at Health.</p>`)}
      ${filters(visit, list)}
      ${queue.entries.length === 0 ? nothingHere(params) : entryForm(visit, list, failed)}`,
  })
  return failed === undefined ? markup : { page: markup, status: 422 }
}

function failingNotice({ kb, url, failingSince }: FailingLink): Html {
  return html`<p class="warning">Since ${when(failingSince)}, ${kb} could not be compared with <a href="${url}" rel="noreferrer">its pull
    requests</a>: what was decided there is not here yet. The server goes on trying.</p>`
}

function filters(visit: Visit, list: ListPage): Html {
  const { params } = list
  const { counts, connectors, knowledgeBases, entries } = list.queue
  const { kb, status = 'pending', kind, connector, tag, assignee, onBehalfOf, text, zone, show } = params
  const { email } = visit.session.user
  const assignees = [...new Set([email, ...(assignee === undefined ? [] : [assignee])])]
  const names = connector === undefined || connectors.includes(connector) ? connectors : [connector, ...connectors]
  const statuses = (['pending', 'approved', 'dismissed'] as const).map(
    (value): Choice => [value, `${statusLabels[value]} (${countText(counts.status[value])})`],
  )
  const chip = (
    name: 'status' | 'kb' | 'kind' | 'connector' | 'assignee',
    label: string,
    value: string | undefined,
    choices: readonly Choice[],
  ) => filterChip({ label, value, choices, href: (value) => listPath({ ...params, [name]: value }), usual: 'pending' })
  const all: Choice = ['', 'All']
  return html`<div class="filters">
    ${zoneLinks(counts, params)}
    <div class="chips" role="group" aria-label="Filters">
      ${forMeLink(list.queue, params)}
      ${chip('status', 'Status', status, [...statuses, ['any', 'Any']])}
      ${knowledgeBases.length > 1 && chip('kb', 'Knowledge base', kb, [all, ...knowledgeBases.map(({ slug, title }): Choice => [slug, title])])}
      ${chip('kind', 'Kind', kind, [all, ...Object.entries(kindLabels)])}
      ${chip('connector', 'From', connector, [all, ...choicesOf(names)])}
      ${chip('assignee', 'Assigned to', assignee, [all, ...assignees.map((value): Choice => [value, value === email ? 'Me' : value])])}
      ${tag !== undefined && endedBy(listPath({ ...params, tag: undefined }), html`<bdi>#${tag}</bdi>`)}
      ${onBehalfOf !== undefined && endedBy(listPath({ ...params, onBehalfOf: undefined }), html`on behalf of <bdi>${onBehalfOf}</bdi>`)}
      ${wordsFilter({
        ...{ action: '/queue', label: 'Filter the queue', placeholder: 'Words', value: text },
        others: { kb, for: params.for, status, kind, connector, tag, assignee, onBehalfOf, zone, show },
      })}
      ${isFiltered(params) && html`<a class="chip" href="/queue">Clear filters</a>${savedFilter(visit, listPath(params))}`}
      ${entries.length > 0 && pickAll(list)}
    </div>
  </div>`
}

/** Renders a filter that a link ends. */
function endedBy(href: string, filter: Html): Html {
  return html`<a class="chip active" href="${href}">${filter} ${icon('x')}<span class="unseen">remove</span></a>`
}

/** Renders the number of proposed tests if the list shows one knowledge base: counting all would read all of them. */
async function proposedNote(
  ctx: AppContext,
  caller: Caller,
  kbs: readonly KbLabel[],
  { kb: asked, status = 'pending' }: QueueParams,
): Promise<Html | undefined> {
  const [kb, other] = kbs.filter(({ slug }) => asked === undefined || slug === asked)
  if (kb === undefined || other !== undefined || status !== 'pending') return undefined
  const { proposed, moreProposed } = (await listProposedTests(ctx, caller, kb.slug).catch(unlessUnavailable)) ?? {}
  const count = proposed?.length ?? 0
  if (count === 0 && moreProposed !== true) return undefined
  return html`<p><a href="${kbPage(kb.slug)}/tests#proposed">${moreProposed && 'More than '}${counted(count, 'proposed answer test')} of <bdi>${kb.title}</bdi></a></p>`
}

function isFiltered({ show: _, status, ...others }: QueueParams): boolean {
  return (status !== undefined && status !== 'pending') || Object.values(others).some((value) => value !== undefined)
}

function forMeLink({ forCaller }: QueuePage, params: QueueParams): Html {
  const isOn = params.for !== undefined
  const href = listPath({ ...params, for: isOn ? undefined : 'me', status: undefined })
  return html`<a class="chip${isOn && ' active'}" href="${href}"${isOn && html` aria-current="true"`}>For me <span class="count">${countText(forCaller)}</span></a>`
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

function entryForm(visit: Visit, { queue, params, place, isAllPicked }: ListPage, failed: Failed | undefined): Html {
  const action = listPath(params, place)
  const errors = failed && { formErrors: [failed.problem] }
  return form(visit, { action, attributes: { class: 'bulk', 'data-bulk': true }, errors }, [
    html`<ol class="entries" data-entries>${queue.entries.map((each) => row(visit, each, params, isAllPicked))}</ol>`,
    bulkBar(params, failed?.reason),
    pager(queue, params),
  ])
}

function pickAll({ params, place, isAllPicked }: ListPage): Html {
  const toggle = listPath(params, { ...place, pick: isAllPicked ? undefined : 'all' })
  return html`<a class="chip" href="${toggle}">${isAllPicked ? 'Select none' : 'Select all on this page'}</a>`
}

/** Renders the buttons for selected candidates. They follow the list, since the style sheet counts the boxes before them. */
function bulkBar(params: QueueParams, reason: string | undefined): Html {
  const { status = 'pending' } = params
  return html`<fieldset class="bulk-bar">
    <legend class="unseen">Decide together</legend>
    <span class="picked" aria-hidden="true"></span>
    ${
      (status === 'pending' || status === 'any') &&
      // Enter in the field of the reason activates the first button.
      html`<label class="unseen" for="bulk-reason">Reason to dismiss (optional)</label>
        <input id="bulk-reason" name="reason" maxlength="2000" dir="auto" autocomplete="off" placeholder="Reason to dismiss (optional)" value="${reason ?? ''}">
      ${button('Dismiss selected', { name: 'decision', value: 'dismiss', class: 'danger' })}
      ${button('Approve selected', { name: 'decision', value: 'approve' })}`
    }
    ${(status === 'dismissed' || status === 'any') && button('Put selected back', { name: 'decision', value: 'reopen', class: 'second' })}
  </fieldset>`
}

function row({ session }: Visit, each: QueueEntry, params: QueueParams, isAllPicked: boolean): Html {
  const { id, kb, kind, status, zone, confidence, connector, createdAt, createdBy, tags, bundle } = each
  const title = bundle?.says.join(' · ') ?? each.title
  // The badge shows the red zone already.
  const warnings = zone === 'red' ? each.warnings.filter((warning) => !warning.includes('red zone')) : each.warnings
  return html`<li class="entry" data-entry>
    <div class="pick">${
      status !== 'approved' &&
      html`<input type="checkbox" id="pick-${id}" name="pick" value="${bundle === undefined ? `${id} ${each.seen}` : bundlePick(id, bundle)}" aria-label="Select ${title}"${isAllPicked && html` checked`}>`
    }</div>
    <div class="what">
      <h2 title="${title}"><a href="${candidateUrl(id, params)}" dir="auto" data-open>${title}</a></h2>
      ${badges(each)}
${bundle === undefined ? html`<span class="intent">${each.intent.does === 'add' ? 'New page' : intentText(each)}</span>` : memberList(bundle, params)}
      ${bundle === undefined && tags.slice(0, 2).map((tag) => html`<a class="badge" href="${listPath({ ...params, tag })}" dir="auto">#${tag}</a> `)}
    </div>
    <div class="who soft">${kindLabels[kind]} · ${confidence === null ? '' : html`<span class="unseen">Confidence</span> ${percent(confidence)} · `}${params.kb === undefined && html`<bdi>${kb}</bdi> · `}${connector !== 'api' && html`from <bdi>${connector}</bdi> · `}by <bdi>${createdBy}</bdi>${endUserLink(each, params)}, ${when(createdAt)}</div>
    ${each.assignee !== null && html`<p class="soft">Assigned to <bdi>${each.assignee}</bdi></p>`}
    ${each.awaiting && html`<p class="soft">${awaitingText(each.awaiting, [session.user.email])}</p>`}
    ${each.asked !== null && html`<p class="soft">Changes were asked for${ofLines(each.asked)}: <span dir="auto">${each.asked.reason}</span></p>`}
    ${status === 'pending' && saysMore(each) && html`<p class="soft why">${verdictText(each)}</p>`}
    ${warningList(warnings)}
  </li>`
}

const maxMembers = 200

type Bundle = NonNullable<QueueEntry['bundle']>

/** Renders the pending candidates of a push on the page of one of them. */
export function bundleSection(visit: Visit, id: string, bundle: Bundle, params: QueueParams): Html {
  const { length } = bundle.members
  return html`<section class="bundle"><p>${bundle.says.join(' · ')}</p>
    ${memberList(bundle, params)}
    ${form(visit, { action: listPath(params) }, [
      hidden({ pick: bundlePick(id, bundle) }),
      html`<div class="row">${button(`Approve all ${length}`, { name: 'decision', value: 'approve', class: 'second' })}
        ${button(`Dismiss all ${length}`, { name: 'decision', value: 'dismiss', class: 'danger' })}</div>`,
    ])}</section>`
}

function bundlePick(id: string, { seen }: Bundle): string {
  return `${id} ${bundleMark}${seen}`
}

function memberList({ members }: Bundle, params: QueueParams): Html {
  const more = members.length - maxMembers
  return html`<details class="members"><summary>${members.length} pages that were proposed together</summary>
    <ul>${members.slice(0, maxMembers).map(({ id, title, isEdited }) => html`<li><a href="${candidateUrl(id, params)}" dir="auto">${title}</a>${isEdited && html` <span class="badge warn">Changed</span>`}</li>`)}
      ${more > 0 && html`<li>and ${more} more</li>`}</ul></details>`
}

function pager({ previous, next }: QueuePage, params: QueueParams): Html | undefined {
  if (previous === null && next === null) return undefined
  return html`<nav class="row" aria-label="Pages">
    ${previous !== null && html`<a class="button second" rel="prev" href="${listPath(params, { before: previous })}">Previous page</a>`}
    ${next !== null && html`<a class="button second" rel="next" href="${listPath(params, { after: next })}">Next page</a>`}
  </nav>`
}
