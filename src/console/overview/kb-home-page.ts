import type { TestHistory } from '../../answer-tests/kept-runs.ts'
import { kbPage } from '../../contract/console-paths.ts'
import { reaches } from '../../contract/vocabulary.ts'
import type { ActivityPage } from '../../events/read-activity.ts'
import type { KbOverview } from '../../operate/overview/read-overview.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { counted } from '../layout/wording.ts'
import { historyChart } from '../queue/tests-page.ts'
import { broken, brokenLinks, failedSources, latestSection, waiting } from './home-page.ts'

export type KbHomeView = {
  overview: KbOverview
  latest: Pick<ActivityPage, 'items' | 'older'>
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
