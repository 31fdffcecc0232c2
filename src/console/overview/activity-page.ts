import { reaches } from '../../contract/vocabulary.ts'
import type { ActivityKind, ActivityPage } from '../../events/read-activity.ts'
import { type Html, html } from '../layout/html-template.ts'
import { liveNotice } from '../layout/live-notice.ts'
import { page } from '../layout/page.ts'
import type { Visit } from '../layout/visit.ts'
import { withQuery } from '../layout/with-query.ts'
import { activityFeed } from './activity-feed.ts'

export type ActivityView = {
  activity: ActivityPage
  kbs: readonly { slug: string; title: string }[]
  kb: string | undefined
  kind: ActivityKind | undefined
  before: number | undefined
  now: Date
}

const kindLabels: Readonly<Record<ActivityKind, string>> = {
  decisions: 'Decisions',
  pages: 'Pages',
  sources: 'Sources',
  pushes: 'Pushes',
}
/** Events that change what each filter shows. */
const liveKinds: Readonly<Record<ActivityKind, string>> = {
  decisions: 'candidate.created candidate.approved candidate.dismissed candidate.reopened',
  pages: 'neuron.created neuron.updated neuron.deleted',
  sources: 'source.uploaded ingest.completed ingest.failed',
  pushes: 'kb.pushed',
}
const everyLiveKind = Object.values(liveKinds).join(' ')

/** What happened, the latest first. */
export function activityPage(visit: Visit, view: ActivityView): Html {
  const isCurator = reaches(visit.session.role, 'curator')
  return page(visit, {
    title: 'Activity',
    islands: view.before === undefined ? ['live'] : [],
    scripts: ['htmx.js'],
    main: html`<h1>Activity</h1>
      ${filters(view, isCurator)}
      ${view.before === undefined && newer(view)}
      ${activitySection(view)}`,
  })
}

/** The part of the page that changes as things happen. */
export function activitySection(view: ActivityView): Html {
  const { activity, kbs, kb, kind, before, now } = view
  const path = (older?: number) => withQuery('/activity', { kb, kind, before: older })
  return html`<section id="feed" aria-label="What happened">
    ${
      activity.items.length === 0
        ? html`<p class="empty">${activity.older === null ? 'Nothing has happened yet, of what is kept: events stay for 7 days.' : 'Nothing here: look further back.'}</p>`
        : activityFeed(activity.items, {
            now,
            namesKb: kb === undefined && kbs.length > 1,
            hasOlder: activity.older !== null,
          })
    }
    <nav class="row" aria-label="Pages of the list">
      ${before !== undefined && html`<a href="${path()}">Latest</a>`}
      ${activity.older !== null && html`<a href="${path(activity.older)}" rel="next">Older</a>`}
    </nav>
  </section>`
}

function filters({ kbs, kb, kind }: ActivityView, isCurator: boolean): Html {
  const option = (value: string, label: string, chosen: string | undefined) =>
    html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${label}</option>`
  return html`<form class="choose" action="/activity" aria-label="Filter what is shown">
    <div class="field"><label for="kb">Knowledge base</label>
      <select id="kb" name="kb">${option('', 'All', kb)}${kbs.map(({ slug, title }) => option(slug, title, kb))}</select></div>
    ${
      isCurator &&
      html`<div class="field"><label for="kind">What</label>
      <select id="kind" name="kind">${option('', 'Everything', kind)}${Object.entries(kindLabels).map(([value, label]) => option(value, label, kind))}</select></div>`
    }
    <button type="submit" class="second">Show</button>
  </form>`
}

function newer({ kb, kind }: ActivityView): Html {
  const kinds = kind === undefined ? everyLiveKind : liveKinds[kind]
  return liveNotice({ kinds, kb, path: withQuery('/activity', { kb, kind }), target: 'feed' })
}
