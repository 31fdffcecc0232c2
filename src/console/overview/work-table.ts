import { kbPage } from '../../contract/console-paths.ts'
import type { KbOverview, Work } from '../../operate/overview/read-overview.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { withQuery } from '../layout/page-query.ts'
import { numberText } from '../layout/wording.ts'
import { zoneLabels } from '../queue/entry-parts.ts'

/** The most urgent first. */
const zones = [
  { zone: 'red', look: 'bad' },
  { zone: 'yellow', look: 'warn' },
  { zone: 'green', look: 'good' },
  { zone: 'none', look: '' },
] as const

export function workTable(kbs: readonly KbOverview[]): Html {
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

export const broken = html`<span class="badge bad">Cannot be read</span> Ask your administrator to look at Health.`

export function waiting(slug: string, { waiting: counts }: Work): Html {
  const shown = zones.filter(({ zone }) => counts[zone] > 0)
  if (shown.length === 0) return html`<span class="empty">Nothing</span>`
  return html`<ul class="row plain">${shown.map(
    ({ zone, look }) =>
      html`<li><a class="badge ${look}" href="${withQuery('/queue', { kb: slug, zone })}">${zoneLabels[zone]}: ${numberText(counts[zone])}</a></li>`,
  )}</ul>`
}

export function brokenLinks(slug: string, { brokenLinks: count }: Work): Html {
  if (count === undefined) return html`<span class="empty">counting…</span>`
  return linked(count, `${kbPage(slug)}/findings`)
}

export function failedSources(slug: string, { failedSources: count }: Work): Html {
  return linked(count, withQuery(`${kbPage(slug)}/sources`, { status: 'failed' }))
}

function linked(count: number, path: string): Html {
  const text: HtmlPart = numberText(count)
  return count === 0 ? html`${text}` : html`<a href="${path}">${text}</a>`
}
