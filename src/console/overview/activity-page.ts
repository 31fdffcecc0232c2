import { z } from 'zod'
import { KbId } from '../../contract/identifiers.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { type ActivityKind, activityKinds, readActivity } from '../../events/read-activity.ts'
import type { KbLabel } from '../../kb/readable-kb.ts'
import { readOverview } from '../../operate/overview/read-overview.ts'
import type { Choice } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { filterChip, liveNotice, savedFilter } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { consolePages, countField, filter, isFragment, withQuery } from '../layout/page-routes.ts'
import { activityFeed } from './activity-feed.ts'

/** Maximum events that are grouped into one page of lines. */
const limit = 200
const ActivityQuery = z.object({
  kb: filter(KbId),
  kind: filter(z.enum(Object.keys(activityKinds) as ActivityKind[])),
  before: filter(countField(15)),
})

const kindLabels: Readonly<Record<ActivityKind, string>> = {
  decisions: 'Decisions',
  pages: 'Pages',
  sources: 'Sources',
  pushes: 'Pushes',
}
const liveKinds: Readonly<Record<ActivityKind, string>> = {
  decisions: 'candidate.created candidate.approved candidate.dismissed candidate.reopened',
  pages: 'neuron.created neuron.updated neuron.deleted',
  sources: 'source.uploaded ingest.completed ingest.failed',
  pushes: 'kb.pushed',
}
const everyLiveKind = Object.values(liveKinds).join(' ')

export const activityRoutes = consolePages({}, (pages, ctx) => {
  pages.get('/activity', { query: ActivityQuery }, async ({ request, visit, caller, query }) => {
    const kbs = await readOverview(ctx, caller)
    const { kb, kind, before } = query
    const { items, older } = await readActivity(ctx, caller, { kb, kind, before, limit })
    const path = (before?: number) => withQuery('/activity', { kb, kind, before })
    const feed = html`<section id="feed" aria-label="What happened">
      ${
        items.length === 0
          ? html`<p class="empty">${older === null ? 'Nothing has happened yet, of what is kept: events stay for 7 days.' : 'Nothing that you may see among these events. There are older ones.'}</p>`
          : activityFeed(items, { namesKb: kb === undefined && kbs.length > 1, hasOlder: older !== null })
      }
      <nav class="row" aria-label="Pages of the list">
        ${before !== undefined && html`<a href="${path()}">Latest</a>`}
        ${older !== null && html`<a href="${path(older)}" rel="next">Older</a>`}
      </nav>
    </section>`
    if (isFragment(request)) return feed
    const isLive = before === undefined
    const kinds = kind === undefined ? everyLiveKind : liveKinds[kind]
    return page(visit, {
      title: 'Activity',
      islands: isLive ? ['live'] : [],
      scripts: ['htmx.js'],
      main: html`<h1>Activity</h1>
        ${filters(visit, kbs, { kb, kind })}
        ${isLive && liveNotice({ kinds, kb, path: path(), target: 'feed' })}
        ${feed}`,
    })
  })
})

function filters(
  visit: Visit,
  kbs: readonly KbLabel[],
  { kb, kind }: { kb: string | undefined; kind: ActivityKind | undefined },
): Html {
  const chip = (name: 'kb' | 'kind', label: string, value: string | undefined, choices: readonly Choice[]) => {
    const href = (value: string | undefined) => withQuery('/activity', { kb, kind, [name]: value })
    return filterChip({ label, value, choices: [['', 'All'], ...choices], href })
  }
  const slugs = kbs.map(({ slug, title }): Choice => [slug, title])
  return html`<div class="filters chips" role="group" aria-label="Filters">
    ${chip('kb', 'Knowledge base', kb, slugs)}
    ${reaches(visit.session.role, 'curator') && chip('kind', 'What', kind, Object.entries(kindLabels))}
    ${(kb !== undefined || kind !== undefined) && savedFilter(visit, withQuery('/activity', { kb, kind }))}
  </div>`
}
