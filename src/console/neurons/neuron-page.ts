import { neuronPage, sourcePage, stalePage, tagPage, versionPage } from '../../contract/console-paths.ts'
import type { Graph } from '../../contract/graph.ts'
import { reaches } from '../../contract/vocabulary.ts'
import type { NeuronView } from '../../pages/read-page.ts'
import { button, form } from '../layout/form.ts'
import { content, type Html, html, icon, trusted } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'
import { crumbs } from './rail.ts'

const width = 480
const height = 360
const radius = { x: 150, y: 130 }
const maxLabel = 22

/** Name of an edge type on the page that has the edge, and on its target. */
const edgeNames: Readonly<Record<string, [from: string, to: string]>> = {
  cites: ['Links to', 'Linked from'],
  'is-a': ['Is a', 'Examples and kinds'],
  'part-of': ['Part of', 'Parts'],
  contradicts: ['Contradicts', 'Contradicted by'],
  supersedes: ['Supersedes', 'Superseded by'],
  'example-of': ['Example of', 'Examples'],
  'caused-by': ['Caused by', 'Causes'],
}

export type Done = keyof typeof notices

const notices = {
  published: 'Your change is published.',
  renamed: 'The page has its new name.',
  verified: 'The page counts as true.',
}
/** Fewer headings than this are found by looking. */
const leastHeadings = 4
const mostHeadings = 200

type Heading = { level: number; id: Html; label: Html }

export function neuronView(
  visit: Visit,
  view: NeuronView,
  { done, rail }: { done?: Done | undefined; rail: Html },
): Html {
  const { kb, neuron, rendered } = view
  const main = html`<div class="neuron">
    <header class="page-head">
      ${crumbs(kb, foldersOf(neuron.path))}
      <div class="headline"><h1 dir="auto">${neuron.title}</h1>${actions(visit, view)}</div>
      ${facts(visit, view)}
      ${pastNotice(view)}${staleNotice(visit, view)}
    </header>
    ${headingList(rendered)}
    <article class="page">
      ${rendered.blocks.length > 0 ? content(rendered) : html`<p class="empty">This page is empty.</p>`}
    </article>
    <aside class="page-about" aria-label="About this page">
      ${tags(view)}${links(view)}${mentions(view)}${around(view)}${sources(view)}${citation(view)}
    </aside>
  </div>`
  const islands = done === undefined ? ['copy'] : ['copy', 'drafts']
  return page(visit, { title: neuron.title, main, kb, rail, islands, notice: done && notices[done] })
}

export function foldersOf(path: string): string[] {
  return path.split('/').slice(1, -1)
}

function facts(visit: Visit, { kb, neuron, approvedBy }: NeuronView): Html {
  const { seqId, version, updatedAt, verified, owner } = neuron
  const path = neuronPage(kb.slug, seqId)
  return html`<p class="page-facts">
    <code>${seqId}</code>
    <span>Version ${version}</span>
    ${isOnMain(visit) && html`<a href="${path}/history">${icon('history')} History</a> <a href="${path}/blame">Who said so</a>`}
    <span>approved by <bdi>${approvedBy}</bdi> ${when(updatedAt)}</span>
    ${verified && html`<span>still true on ${verified.at}${verified.by !== undefined && html`, says <bdi>${verified.by}</bdi>`}${verified.until !== undefined && html`, until ${verified.until}`}</span>`}
    ${owner !== undefined && html`<span>owned by <bdi>${owner}</bdi></span>`}
  </p>`
}

function staleNotice(visit: Visit, { kb, neuron, current, pastDate }: NeuronView): Html | undefined {
  if (neuron.stale !== true || current !== neuron.version) return undefined
  const { newEdition } = neuron
  const why = [
    newEdition?.id !== undefined &&
      html`A document that this page cites has a new edition: <a href="${sourcePage(kb.slug, newEdition.id)}"><bdi>${newEdition.filename}</bdi></a>. `,
    pastDate !== undefined && html`This page is past its date, ${pastDate}. `,
  ].filter((part) => part !== false)
  const next = mayChange(visit) && 'Change it, or choose “Still true”.'
  return html`<p class="warning">${why.length > 0 ? why : 'This page is past its date, or older than a document that it cites. '}Nobody has said since that it is still true. ${next} <a href="${stalePage(kb.slug)}">All such pages</a></p>`
}

/** A page of a preview is no page yet: what is changed, or said to be true, is the one on main, with another text. */
const isOnMain = ({ previewBanner }: Visit) => previewBanner === undefined

const mayChange = (visit: Visit) => isOnMain(visit) && reaches(visit.session.role, 'curator')

function actions(visit: Visit, { kb, neuron, current }: NeuronView): Html | undefined {
  if (!mayChange(visit) || current === null) return undefined
  const path = neuronPage(kb.slug, neuron.seqId)
  return html`<div class="row actions">
    <a class="button" href="${path}/edit">${icon('pencil')} Edit</a>
    <a class="button second" href="${path}/rename">Rename</a>
    <a class="button second" href="${path}/remove">Remove</a>
    ${current === neuron.version && form(visit, { action: `${path}/still-true` }, button('Still true', { class: 'second' }))}
  </div>`
}

function pastNotice({ kb, neuron, current }: NeuronView): Html | undefined {
  const { seqId, version } = neuron
  const path = neuronPage(kb.slug, seqId)
  if (current === null) return html`<p class="warning">This page was removed. You are reading version ${version}.</p>`
  if (current === version) return undefined
  return html`<p class="warning">You are reading version ${version}; the page is at version ${current} now.
    <a href="${path}">Read it as it is now</a> ·
    <a href="${path}/history?from=${version}&amp;to=${current}">See what has changed</a></p>`
}

export function headingList({ blocks }: { blocks: readonly string[] }): Html | undefined {
  const headings = blocks.flatMap((block) => headingOf(block) ?? [])
  if (headings.length < leastHeadings) return undefined
  return html`<nav class="on-this-page" aria-label="On this page"><details><summary>On this page</summary>
    <ul>${headings.slice(0, mostHeadings).map(({ level, id, label }) => html`<li class="level-${level}"><a href="#${id}">${label}</a></li>`)}</ul>
  </details></nav>`
}

/** The sanitiser has made the block: each element at the top of a page, and so each of its headings, is one. */
function headingOf(block: string): Heading | undefined {
  const [, level = '', id = '', inner = ''] =
    /^<h([2-4])\s(?:[^>]*\s)?id="([^"]+)"[^>]*>([\s\S]*)<\/h\1>\s*$/.exec(block) ?? []
  // Both are escaped as they stand in the block.
  const label = inner
    .replace(/<[^>]*>/g, '')
    .replaceAll('<', '')
    .trim()
  return label === '' ? undefined : { level: Number(level), id: trusted(id), label: trusted(label) }
}

function tags({ kb, neuron }: NeuronView): Html | undefined {
  if (neuron.tags.length === 0) return undefined
  return html`<section><h2>Tags</h2><ul class="tags">
    ${neuron.tags.map((tag) => html`<li><a class="badge" href="${tagPage(kb.slug, tag)}" dir="auto">${tag}</a></li>`)}
  </ul></section>`
}

function links({ kb, links: shown, neuron }: NeuronView): Html | undefined {
  if (shown.length === 0 && neuron.unresolved.length === 0) return undefined
  const groups = [...Map.groupBy(shown, ({ type }) => type)]
  return html`<section><h2>Links</h2>
    ${groups.map(
      ([type, those]) => html`<h3>${edgeNames[type]?.[0] ?? type}</h3><ul>
        ${those.map(
          (link) =>
            html`<li><a href="${neuronPage(link.kb, link.target)}" dir="auto">${link.title}</a>${
              link.kb !== kb.slug && html` <span class="hint">in ${link.kb}</span>`
            }</li>`,
        )}</ul>`,
    )}
    ${
      neuron.unresolved.length > 0 &&
      html`<h3>Lead nowhere</h3><ul>${neuron.unresolved.map(
        ({ target, reason }) =>
          html`<li><bdi>${target}</bdi> <span class="hint">${reason === 'missing' ? 'no page has this name' : 'several pages have this name'}</span></li>`,
      )}</ul>`
    }
  </section>`
}

function mentions({ kb, neuron, mentions: shown }: NeuronView): Html | undefined {
  if (shown.length === 0) return undefined
  const more = neuron.backlinks.slice(shown.length)
  const link = ({ seqId, title }: { seqId: string; title: string }) =>
    html`<a href="${neuronPage(kb.slug, seqId)}" dir="auto">${title}</a>`
  return html`<section><h2>Mentioned in</h2><ul class="mentions">
    ${shown.map(
      (mention) => html`<li>${link(mention)}
        ${mention.type !== 'cites' && html`<span class="badge">${edgeNames[mention.type]?.[1] ?? mention.type}</span>`}
        ${mention.sentence && html`<p class="hint" dir="auto">${mention.sentence}</p>`}</li>`,
    )}</ul>
    ${more.length > 0 && html`<details><summary>${more.length} more</summary><ul>${more.map((one) => html`<li>${link(one)}</li>`)}</ul></details>`}
  </section>`
}

function around({ kb, around: graph }: NeuronView): Html | undefined {
  if (graph.nodes.length < 2) return undefined
  return html`<section><h2>Around this page</h2>${aroundMap(kb.slug, graph)}</section>`
}

function sources({ kb, neuron: { sources: from = [] } }: NeuronView): Html | undefined {
  if (from.length === 0) return undefined
  return html`<section><h2>Sources</h2><ul>${from.map((source) => {
    const { id, filename, page: pages, slide, sheet, time } = source
    const place = [
      pages && `page ${pages}`,
      slide && `slide ${slide}`,
      sheet && `sheet ${sheet}`,
      time && `at ${time} s`,
    ].filter(Boolean)
    const name = filename ?? id ?? 'Source'
    return html`<li>${id === undefined ? html`<bdi>${name}</bdi>` : html`<a href="${sourcePage(kb.slug, id, source)}" dir="auto">${name}</a>`}
      ${place.length > 0 && html`<span class="hint">${place.join(', ')}</span>`}</li>`
  })}</ul></section>`
}

/** Renders the citation, a permanent name of this version. */
function citation({ kb, neuron: { seqId, commit } }: NeuronView): Html {
  return html`<section><h2>Cite</h2>
    <div class="row copied"><input readonly value="${seqId}@${commit}" aria-label="Citation" data-copy>
    <a href="${versionPage(kb.slug, seqId, commit)}">Link to this version</a></div></section>`
}

/**
 * The first of a graph's Neurons in the middle, the others around it. A drawing for the eye: the lists of links and mentions say the same,
 * so that it is hidden from screen readers.
 */
function aroundMap(kbSlug: string, { nodes, edges, truncated }: Graph): Html {
  const places = new Map(nodes.map(({ seqId }, index) => [seqId, placeOf(index, nodes.length - 1)]))
  const lines = edges.flatMap(({ source, target }) => {
    const [from, to] = [places.get(source), places.get(target)]
    return from && to ? [html`<line x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}"/>`] : []
  })
  return html`<svg class="page-map" viewBox="0 0 ${width} ${height}" aria-hidden="true" focusable="false">
    <g class="lines">${lines}</g>
    ${nodes.map(({ seqId, title }, index) => {
      const { x, y } = placeOf(index, nodes.length - 1)
      return html`<a href="${neuronPage(kbSlug, seqId)}" tabindex="-1"${index === 0 && html` class="middle"`}>
        <title>${title}</title><circle cx="${x}" cy="${y}" r="5"/>
        <text x="${x}" y="${y < height / 2 ? y - 10 : y + 18}" text-anchor="middle">${short(title)}</text></a>`
    })}
  </svg>
  ${truncated && html`<p class="hint">There are more pages around this one.</p>`}`
}

function placeOf(index: number, around: number): { x: number; y: number } {
  if (index === 0) return { x: width / 2, y: height / 2 }
  const angle = (2 * Math.PI * (index - 1)) / around - Math.PI / 2
  return {
    x: Math.round(width / 2 + radius.x * Math.cos(angle)),
    y: Math.round(height / 2 + radius.y * Math.sin(angle)),
  }
}

function short(title: string): string {
  const letters = [...title]
  return letters.length <= maxLabel ? title : `${letters.slice(0, maxLabel - 1).join('')}…`
}
