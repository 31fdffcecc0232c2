import { z } from 'zod'
import { readTestHistory, type TestHistory } from '../../answer-tests/kept-runs.ts'
import { kbPage } from '../../contract/console-paths.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { type ActivityPage, readActivity } from '../../events/read-activity.ts'
import { type KbOverview, readKbOverview, readOverview, type Work } from '../../operate/overview/read-overview.ts'
import { markTour, readTour } from '../../operate/overview/tour.ts'
import { countForCaller } from '../../queue/lists/list-queue.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { counted, numberText } from '../../rules/text/numbers.ts'
import { type Html, html } from '../layout/html-template.ts'
import { dataTable, turnPages } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { consolePages, countField, filter, isFragment, KbParams, withQuery } from '../layout/page-routes.ts'
import { zoneLabels } from '../queue/entry-parts.ts'
import { historyChart } from '../queue/tests-page.ts'
import { activityFeed } from './activity-feed.ts'
import { tourPart, tourPath } from './tour-page.ts'

const kbsOnPage = 100
/** Maximum events that are read for the latest activity. */
const eventsRead = 150
const HomeQuery = z.object({ page: filter(countField(15)) })
const TourForm = z.object({ step: z.enum(['read', 'search', 'dismissed']) })

export const homeRoutes = consolePages({}, (pages, ctx) => {
  pages.get('/', { query: HomeQuery }, async ({ request, visit, caller, query }) => {
    const all = await readOverview(ctx, caller)
    const count = Math.max(1, Math.ceil(all.length / kbsOnPage))
    const number = Math.min(query.page ?? 1, count)
    const kbs = all.slice((number - 1) * kbsOnPage, number * kbsOnPage)
    const isCurator = reaches(visit.session.role, 'curator')
    const forCaller = isCurator ? await countForCaller(ctx, caller) : 0
    const list = html`${forCaller > 0 && html`<p><a href="/queue?for=me">${counted(forCaller, 'candidate')} for me</a></p>`}
      ${homeWork(visit, kbs, { page: number, pages: count })}`
    if (isFragment(request)) return list
    const latest = await readActivity(ctx, caller, { limit: eventsRead })
    return page(visit, {
      title: 'Home',
      islands: ['live'],
      main: html`<h1>Knowledge bases</h1>
        ${await tourOf(visit, caller)}
        <div data-live="${isCurator ? workKinds : pageKinds}" data-live-refresh="${withQuery('/', { page: number })}">${list}</div>
        ${latestSection(latest, kbs.length > 1)}`,
    })
  })

  pages.get('/kb/:kb', { params: KbParams }, async ({ request, visit, caller, params }) => {
    const { slug, title, neurons, work, isBroken } = await readKbOverview(ctx, caller, params.kb)
    const latest = isBroken
      ? { items: [], older: null }
      : await readActivity(ctx, caller, { kb: slug, limit: eventsRead })
    const isCurator = reaches(visit.session.role, 'curator')
    const tests = isCurator && !isBroken ? await readTestHistory(ctx, caller, slug) : undefined
    const clonePath = ctx.urls.clone(visit.session.tenant.slug, slug)
    const cloneUrl = new URL(clonePath, `${request.protocol}://${request.host}`).href
    return page(visit, {
      title,
      kb: { slug, title },
      main: html`<h1 dir="auto">${title}</h1>
        ${await tourOf(visit, caller, slug)}
        ${isBroken && html`<p class="warning">${broken}</p>`}
        <dl class="figures">
          <div><dt>Pages</dt><dd><a href="${kbPage(slug)}/tree">${counted(neurons, 'page')}</a></dd></div>
          ${
            work &&
            html`<div><dt>Waiting for a decision</dt><dd>${waiting(slug, work)}</dd></div>
            <div><dt>Broken links</dt><dd>${brokenLinks(slug, work)}</dd></div>
            <div><dt>Failed Sources</dt><dd>${failedSources(slug, work)}</dd></div>`
          }
        </dl>
        <ul class="cards">${[...ways, ...(isCurator ? waysOfCurators : [])].map(
          ([to, label, text]) =>
            html`<li class="card"><a href="${kbPage(slug)}/${to}"><strong>${label}</strong></a><br>${text}</li>`,
        )}</ul>
        ${testsSection(slug, tests)}
        ${latestSection(latest, false, slug)}
        <section aria-labelledby="clone">
          <h2 id="clone">As files</h2>
          <p>${isCurator ? 'All of it' : 'What you may see of it'} is a git repository. With an API key as the password:</p>
          <pre tabindex="0"><code>git clone ${cloneUrl}</code></pre>
        </section>`,
    })
  })

  pages.post('/tour', { config: { people: 'admin' }, body: TourForm }, async ({ caller, body: { step } }) => {
    const tour = await readTour(ctx, caller)
    await markTour(ctx, caller, step)
    return { to: step === 'dismissed' || tour === undefined ? '/' : tourPath(tour, step) }
  })

  /** Renders the tour for an administrator, on the pages where it starts. */
  async function tourOf(visit: Visit, caller: Caller, kb?: string): Promise<Html | undefined> {
    if (!reaches(visit.session.role, 'admin')) return undefined
    const tour = await readTour(ctx, caller)
    return tour === undefined || (kb !== undefined && kb !== tour.kb) ? undefined : tourPart(visit, tour)
  }
})

const ways = [
  ['tree', 'Browse the pages', 'Folder by folder.'],
  ['tags', 'Tags', 'What the pages are about.'],
  ['search', 'Search', 'Find pages by their words.'],
  ['chat', 'Ask', 'Get an answer with the pages that it stands on.'],
  ['sources', 'Sources', 'The files that pages were made of.'],
]
const waysOfCurators = [
  ['tests', 'Answer tests', 'Questions, and what must hold of their answers.'],
  ['new', 'Write a page', 'It waits in the queue, or is published at once.'],
]

const workKinds =
  'candidate.created candidate.approved candidate.dismissed candidate.reopened ingest.failed ingest.completed neuron.deleted'
/** Events that change the numbers that readers see. */
const pageKinds = 'neuron.created neuron.updated neuron.deleted'

/** Renders the list of knowledge bases. @param page of the list, from 1 */
function homeWork(
  { session }: Visit,
  kbs: readonly KbOverview[],
  { page, pages }: { page: number; pages: number },
): Html {
  if (kbs.length === 0) {
    return html`<p class="empty">There is no knowledge base yet. An operator makes one on the server:
      <code>ganglion kb create ${session.tenant.slug}/handbook</code></p>`
  }
  const list = reaches(session.role, 'curator') ? workTable(kbs) : cards(kbs)
  const href = (page: number) => withQuery('/', { page })
  return html`${list}${turnPages({ label: 'Pages of the list', page, pages, href, words: ['Previous', 'Page', 'Next'] })}`
}

function cards(kbs: readonly KbOverview[]): Html {
  return html`<ul class="cards">${kbs.map(
    ({ slug, title, neurons, isBroken }) => html`<li class="card">
      <h2><a href="${kbPage(slug)}"><bdi>${title}</bdi></a></h2>
      <p>${isBroken ? broken : counted(neurons, 'page')}</p>
      <p class="row"><a href="${kbPage(slug)}/search">Search</a> <a href="${kbPage(slug)}/chat">Ask</a>
        <a href="${kbPage(slug)}/tree">Browse</a></p>
    </li>`,
  )}</ul>`
}

const latestShown = 8

function latestSection({ items, older }: Pick<ActivityPage, 'items' | 'older'>, namesKb: boolean, kb?: string): Html {
  return html`<section aria-labelledby="latest">
    <h2 id="latest">What happened last</h2>
    ${items.length === 0 ? html`<p class="empty">${older === null ? 'Nothing in the last 7 days.' : 'Nothing that you may see among the latest events.'}</p>` : activityFeed(items, { namesKb, hasOlder: older !== null, most: latestShown })}
    <p><a href="${withQuery('/activity', { kb })}">All activity</a></p>
  </section>`
}

/** Zones, most urgent first. */
const zones = [
  { zone: 'red', look: 'bad' },
  { zone: 'yellow', look: 'warn' },
  { zone: 'green', look: 'good' },
  { zone: 'none', look: '' },
] as const

function workTable(kbs: readonly KbOverview[]): Html {
  const headings = ['Knowledge base', 'Waiting', 'Pages', 'Broken links', 'Failed Sources']
  const rows = kbs.map(
    (kb) => html`<th scope="row"><a href="${kbPage(kb.slug)}"><bdi>${kb.title}</bdi></a></th>${cells(kb)}`,
  )
  return dataTable('Knowledge bases', headings, rows, { class: 'work', numbers: 3 })
}

function cells({ slug, neurons, work }: KbOverview): Html {
  if (work === undefined) return html`<td colspan="4">${broken}</td>`
  return html`<td>${waiting(slug, work)}</td><td class="number">${numberText(neurons)}</td>
    <td class="number">${brokenLinks(slug, work)}</td><td class="number">${failedSources(slug, work)}</td>`
}

const broken = html`<span class="badge bad">Cannot be read</span> Ask your administrator to look at Health.`

function waiting(slug: string, { waiting: counts }: Work): Html {
  const shown = zones.filter(({ zone }) => counts[zone] > 0)
  if (shown.length === 0) return html`<span class="empty">Nothing</span>`
  return html`<ul class="row plain">${shown.map(
    ({ zone, look }) =>
      html`<li><a class="badge ${look}" href="${withQuery('/queue', { kb: slug, zone })}">${zoneLabels[zone]}: ${numberText(counts[zone])}</a></li>`,
  )}</ul>`
}

function brokenLinks(slug: string, { brokenLinks: count }: Work): Html {
  if (count === undefined) return html`<span class="empty">counting…</span>`
  return linked(count, `${kbPage(slug)}/findings`)
}

function failedSources(slug: string, { failedSources: count }: Work): Html {
  return linked(count, withQuery(`${kbPage(slug)}/sources`, { status: 'failed' }))
}

function linked(count: number, path: string): Html {
  return count === 0 ? html`0` : html`<a href="${path}">${numberText(count)}</a>`
}

function testsSection(slug: string, tests: TestHistory | undefined): Html | undefined {
  const last = tests?.history.at(-1)
  if (tests === undefined || last === undefined) return undefined
  const { history, redSince } = tests
  return html`<section aria-labelledby="tests"><h2 id="tests"><a href="${kbPage(slug)}/tests">Answer tests</a></h2>
    ${historyChart(history)}
    <p>${last.passed} of ${last.passed + last.failed} passed at <code>${last.commit.slice(0, 12)}</code>.${redSince !== null && html` A test has failed since <code>${redSince.slice(0, 12)}</code>.`}</p></section>`
}
