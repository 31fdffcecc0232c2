import { reaches } from '../../contract/vocabulary.ts'
import type { ActivityKind, ActivityPage } from '../../events/read-activity.ts'
import type { Choice } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { filterChip, liveNotice, savedFilter } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-query.ts'
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

export function activityPage(visit: Visit, view: ActivityView): Html {
  return page(visit, {
    title: 'Activity',
    islands: view.before === undefined ? ['live'] : [],
    scripts: ['htmx.js'],
    main: html`<h1>Activity</h1>
      ${filters(visit, view)}
      ${view.before === undefined && newer(view)}
      ${activitySection(view)}`,
  })
}

export function activitySection(view: ActivityView): Html {
  const { activity, kbs, kb, kind, before, now } = view
  const path = (older?: number) => withQuery('/activity', { kb, kind, before: older })
  return html`<section id="feed" aria-label="What happened">
    ${
      activity.items.length === 0
        ? html`<p class="empty">${activity.older === null ? 'Nothing has happened yet, of what is kept: events stay for 7 days.' : 'Nothing that you may see among these events. There are older ones.'}</p>`
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

function filters(visit: Visit, { kbs, kb, kind }: ActivityView): Html {
  const chip = (name: 'kb' | 'kind', label: string, value: string | undefined, choices: Choice[]) => {
    const all = { value: '', label: 'All' }
    const href = (value: string | undefined) => withQuery('/activity', { kb, kind, [name]: value })
    return filterChip({ label, value, choices: [all, ...choices], href })
  }
  const kinds = Object.entries(kindLabels).map(([value, label]) => ({ value, label }))
  return html`<div class="filters chips" role="group" aria-label="Filters">
    ${chip(
      'kb',
      'Knowledge base',
      kb,
      kbs.map(({ slug, title }) => ({ value: slug, label: title })),
    )}
    ${reaches(visit.session.role, 'curator') && chip('kind', 'What', kind, kinds)}
    ${(kb !== undefined || kind !== undefined) && savedFilter(visit, withQuery('/activity', { kb, kind }))}
  </div>`
}

function newer({ kb, kind }: ActivityView): Html {
  const kinds = kind === undefined ? everyLiveKind : liveKinds[kind]
  return liveNotice({ kinds, kb, path: withQuery('/activity', { kb, kind }), target: 'feed' })
}
