import type { TestHistory } from '../../answer-tests/kept-runs.ts'
import { kbPage } from '../../contract/console-paths.ts'
import { reaches } from '../../contract/vocabulary.ts'
import type { ActivityPage } from '../../events/read-activity.ts'
import type { KbOverview, Work } from '../../operate/overview/read-overview.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-query.ts'
import { counted, numberText } from '../layout/wording.ts'
import { zoneLabels } from '../queue/entry-parts.ts'
import { historyChart } from '../queue/tests-page.ts'
import { activityFeed } from './activity-feed.ts'

type Latest = Pick<ActivityPage, 'items' | 'older'>

export type HomeView = {
  /** A page of them. */
  kbs: readonly KbOverview[]
  /** Page number, from 1. */
  number: number
  pages: number
  latest: Latest
  /** Tour for a new administrator. */
  tour?: HtmlPart
  now: Date
}

export function homePage(visit: Visit, view: HomeView): Html {
  const isCurator = reaches(visit.session.role, 'curator')
  return page(visit, {
    title: 'Home',
    islands: ['live'],
    main: html`<h1>Knowledge bases</h1>
      ${view.tour}
      <div data-live="${isCurator ? workKinds : pageKinds}" data-live-refresh="${withQuery('/', { page: view.number })}">${homeWork(visit, view)}</div>
      ${latestSection(view.latest, view.now, view.kbs.length > 1)}`,
  })
}

const workKinds =
  'candidate.created candidate.approved candidate.dismissed candidate.reopened ingest.failed ingest.completed neuron.deleted'
/** Events that change the numbers that readers see. */
const pageKinds = 'neuron.created neuron.updated neuron.deleted'

export function homeWork({ session }: Visit, { kbs, number, pages }: HomeView): Html {
  if (kbs.length === 0) {
    return html`<p class="empty">There is no knowledge base yet. An operator makes one on the server:
      <code>ganglion kb create ${session.tenant.slug}/handbook</code></p>`
  }
  const list = reaches(session.role, 'curator') ? workTable(kbs) : cards(kbs)
  if (pages === 1) return list
  return html`${list}<nav class="row" aria-label="Pages of the list">
    ${number > 1 && html`<a href="${withQuery('/', { page: number - 1 })}" rel="prev">Previous</a>`}
    <span>Page ${number} of ${pages}</span>
    ${number < pages && html`<a href="${withQuery('/', { page: number + 1 })}" rel="next">Next</a>`}
  </nav>`
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

/** Lines of what happened last. */
const latestShown = 8

function latestSection({ items, older }: Latest, now: Date, namesKb: boolean, kb?: string): Html {
  return html`<section aria-labelledby="latest">
    <h2 id="latest">What happened last</h2>
    ${items.length === 0 ? html`<p class="empty">${older === null ? 'Nothing in the last 7 days.' : 'Nothing that you may see among the latest events.'}</p>` : activityFeed(items, { now, namesKb, hasOlder: older !== null, most: latestShown })}
    <p><a href="${withQuery('/activity', { kb })}">All activity</a></p>
  </section>`
}

/** The most urgent first. */
const zones = [
  { zone: 'red', look: 'bad' },
  { zone: 'yellow', look: 'warn' },
  { zone: 'green', look: 'good' },
  { zone: 'none', look: '' },
] as const

function workTable(kbs: readonly KbOverview[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Knowledge bases">
    <table class="work">
      <thead><tr>
        <th scope="col">Knowledge base</th><th scope="col">Waiting</th><th scope="col" class="number">Pages</th>
        <th scope="col" class="number">Broken links</th><th scope="col" class="number">Failed Sources</th>
      </tr></thead>
      <tbody>${kbs.map((kb) => html`<tr><th scope="row"><a href="${kbPage(kb.slug)}"><bdi>${kb.title}</bdi></a></th>${cells(kb)}</tr>`)}</tbody>
    </table>
  </div>`
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
  const text: HtmlPart = numberText(count)
  return count === 0 ? html`${text}` : html`<a href="${path}">${text}</a>`
}

type KbHomeView = {
  overview: KbOverview
  latest: Latest
  /** URL to clone the repository from. */
  cloneUrl: string
  tour?: HtmlPart
  /** Results of the answer tests by commit of main, for curators. */
  tests?: TestHistory | undefined
  now: Date
}

type Way = { to: string; label: string; text: string; isForCurators?: true }

const ways: readonly Way[] = [
  { to: 'tree', label: 'Browse the pages', text: 'Folder by folder.' },
  { to: 'tags', label: 'Tags', text: 'What the pages are about.' },
  { to: 'search', label: 'Search', text: 'Find pages by their words.' },
  { to: 'chat', label: 'Ask', text: 'Get an answer with the pages that it stands on.' },
  { to: 'sources', label: 'Sources', text: 'The files that pages were made of.' },
  { to: 'tests', label: 'Answer tests', text: 'Questions, and what must hold of their answers.', isForCurators: true },
  { to: 'new', label: 'Write a page', text: 'It waits in the queue, or is published at once.', isForCurators: true },
]

export function kbHomePage(visit: Visit, { overview, latest, cloneUrl, tour, tests, now }: KbHomeView): Html {
  const { slug, title, neurons, work, isBroken } = overview
  const isCurator = reaches(visit.session.role, 'curator')
  return page(visit, {
    title,
    kb: { slug, title },
    main: html`<h1 dir="auto">${title}</h1>
      ${tour}
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
      <ul class="cards">${ways
        .filter((way) => isCurator || way.isForCurators !== true)
        .map(
          (way) =>
            html`<li class="card"><a href="${kbPage(slug)}/${way.to}"><strong>${way.label}</strong></a><br>${way.text}</li>`,
        )}</ul>
      ${testsSection(slug, tests)}
      ${latestSection(latest, now, false, slug)}
      <section aria-labelledby="clone">
        <h2 id="clone">As files</h2>
        <p>${isCurator ? 'All of it' : 'What you may see of it'} is a git repository. With an API key as the password:</p>
        <pre tabindex="0"><code>git clone ${cloneUrl}</code></pre>
      </section>`,
  })
}

function testsSection(slug: string, tests: TestHistory | undefined): Html | undefined {
  const last = tests?.history.at(-1)
  if (tests === undefined || last === undefined) return undefined
  const { history, redSince } = tests
  return html`<section aria-labelledby="tests"><h2 id="tests"><a href="${kbPage(slug)}/tests">Answer tests</a></h2>
    ${historyChart(history)}
    <p>${last.passed} of ${last.passed + last.failed} passed at <code>${last.commit.slice(0, 12)}</code>.${redSince !== null && html` A test has failed since <code>${redSince.slice(0, 12)}</code>.`}</p></section>`
}
