import { kbPage } from '../../contract/console-paths.ts'
import { reaches } from '../../contract/vocabulary.ts'
import type { ActivityPage } from '../../events/read-activity.ts'
import type { KbOverview } from '../../operate/overview/read-overview.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-query.ts'
import { counted } from '../layout/wording.ts'
import { activityFeed } from './activity-feed.ts'
import { broken, workTable } from './work-table.ts'

type Latest = Pick<ActivityPage, 'items' | 'older'>

export type HomeView = {
  /** A page of them. */
  kbs: readonly KbOverview[]
  /** Which page, from 1, and of how many. */
  number: number
  pages: number
  latest: Latest
  /** For a newcomer. */
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
/** What changes the numbers that readers see. */
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

export function latestSection({ items, older }: Latest, now: Date, namesKb: boolean, kb?: string): Html {
  return html`<section aria-labelledby="latest">
    <h2 id="latest">What happened last</h2>
    ${items.length === 0 ? html`<p class="empty">${older === null ? 'Nothing in the last 7 days.' : 'Nothing that you may see among the latest events.'}</p>` : activityFeed(items, { now, namesKb, hasOlder: older !== null, most: latestShown })}
    <p><a href="${withQuery('/activity', { kb })}">All activity</a></p>
  </section>`
}
