import { z } from 'zod'
import { neuronPage, proposedPage, sourcePage, stalePage, tagPage, versionPage } from '../../contract/console-paths.ts'
import { GanglionError, undefinedOn } from '../../contract/errors.ts'
import { CommitId } from '../../contract/identifiers.ts'
import { NeuronPath } from '../../contract/neurons.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { answerFile } from '../../http/response/file-answer.ts'
import { readMarkdown } from '../../pages/page-markdown.ts'
import { readHistory } from '../../pages/read-history.ts'
import { type NeuronView, readPage } from '../../pages/read-page.ts'
import { sayStillTrue } from '../../pages/write/say-still-true.ts'
import { noteQuestion } from '../../search/kb/question-log.ts'
import { postButton } from '../layout/form.ts'
import { content, type Html, html, icon, trusted, when } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { consolePages } from '../layout/page-routes.ts'
import { historyPage, versionsShown } from './history-page.ts'
import { crumbs, foldersOf, kbRail } from './rail.ts'

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

const notices = {
  published: 'Your change is published.',
  renamed: 'The page has its new name.',
  verified: 'The page counts as true.',
}
/** Minimum number of headings for a list of them. */
const leastHeadings = 4
const mostHeadings = 200

/** Query of a page. Without a commit, it is the latest version. */
const ReadQuery = z.object({
  at: CommitId.exactOptional(),
  done: z.enum(['published', 'renamed', 'verified']).exactOptional(),
  /** Search query that led to the page. */
  for: z.string().max(1000).exactOptional(),
})

export const neuronViewRoutes = consolePages({}, (pages, ctx) => {
  pages.get('/kb/:kb/neurons/:seqId', { params: NeuronPath, query: ReadQuery, notices }, async (sent) => {
    const { visit, caller, params, notice } = sent
    const { done, for: question, ...version } = sent.query
    const reading = readPage(ctx, caller, { ...params, ...version })
    // Only curators are told that a page was removed.
    const view = await (reaches(visit.session.role, 'curator') ? reading.catch(undefinedOn('not_found')) : reading)
    if (view === undefined) {
      const history = await readHistory(ctx, caller, { ...params, limit: versionsShown })
      if (!history.isRemoved) throw new GanglionError('not_found')
      return { page: historyPage(visit, history), status: 404 }
    }
    const { kb, neuron, rendered } = view
    const { path, seqId, title } = neuron
    if (question !== undefined) {
      const kb = await ctx.readableKb(caller.tenantId, params.kb)
      await noteQuestion(ctx, caller, kb, question, { opened: seqId })
    }
    const folders = foldersOf(path)
    const main = html`<div class="neuron">
      <header class="page-head">
        ${crumbs(kb, folders)}
        <div class="headline"><h1 dir="auto">${title}</h1>${actions(visit, view)}</div>
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
    const rail = await kbRail(ctx, caller, kb.slug, { folders, neuron })
    return page(visit, { title, main, kb, rail, islands, notice })
  })

  const ofCurators = { params: NeuronPath, config: { people: 'curator' } } as const
  pages.get('/kb/:kb/neurons/:seqId.md', { params: NeuronPath, query: ReadQuery.pick({ at: true }) }, async (sent) =>
    answerFile(sent.request, sent.reply, await readMarkdown(ctx, sent.caller, { ...sent.params, ...sent.query })),
  )

  pages.post('/kb/:kb/neurons/:seqId/still-true', ofCurators, async ({ caller, params: { kb, seqId } }) => {
    const answer = await sayStillTrue(ctx, caller, { kb, seqId }, {})
    const isDone = answer.status === 'approved'
    return { to: isDone ? `${neuronPage(kb, seqId)}?done=verified` : proposedPage(answer.candidateId) }
  })
})

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

/** False in a preview, where an edit or a confirmation would apply to the page on `main`, which has another text. */
const isOnMain = ({ previewBanner }: Visit) => previewBanner === undefined

const mayChange = (visit: Visit) => isOnMain(visit) && reaches(visit.session.role, 'curator')

function actions(visit: Visit, { kb, neuron, current }: NeuronView): Html | undefined {
  if (!mayChange(visit) || current === null) return undefined
  const path = neuronPage(kb.slug, neuron.seqId)
  return html`<div class="row actions">
    <a class="button" href="${path}/edit">${icon('pencil')} Edit</a>
    <a class="button second" href="${path}/rename">Rename</a>
    <a class="button second" href="${path}/remove">Remove</a>
    ${current === neuron.version && postButton(visit, `${path}/still-true`, 'Still true')}
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

/** Parses a heading. The sanitiser makes each element at the top of a page, and so each of its headings, one block. */
function headingOf(block: string) {
  const [, level = '', id = '', inner = ''] =
    /^<h([2-4])\s(?:[^>]*\s)?id="([^"]+)"[^>]*>([\s\S]*)<\/h\1>\s*$/.exec(block) ?? []
  // Both are escaped in the block already.
  const label = inner
    .replace(/<[^>]*>/g, '')
    .replaceAll('<', '')
    .trim()
  return label === '' ? undefined : { level, id: trusted(id), label: trusted(label) }
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

function citation({ kb, neuron: { seqId, commit, version }, current }: NeuronView): Html {
  return html`<section><h2>Cite</h2>
    <div class="row copied"><input readonly value="${seqId}@${commit}" aria-label="Citation" data-copy>
    <a href="${versionPage(kb.slug, seqId, commit)}">Link to this version</a>
    <a href="${neuronPage(kb.slug, seqId)}.md${current === version ? '' : `?at=${commit}`}">As Markdown</a></div></section>`
}

/**
 * Draws the Neuron in the middle and its neighbours around it. The lists of links and mentions say the same, so the drawing is hidden
 * from screen readers.
 */
function around({ kb, around: { nodes, edges, truncated } }: NeuronView): Html | undefined {
  if (nodes.length < 2) return undefined
  const placed = nodes.map((node, index) => ({ ...node, index, ...placeOf(index, nodes.length - 1) }))
  const places = new Map(placed.map((place) => [place.seqId, place]))
  const lines = edges.flatMap(({ source, target }) => {
    const [from, to] = [places.get(source), places.get(target)]
    return from && to ? [html`<line x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}"/>`] : []
  })
  return html`<section><h2>Around this page</h2><svg class="page-map" viewBox="0 0 ${width} ${height}" aria-hidden="true" focusable="false">
    <g class="lines">${lines}</g>
    ${placed.map(
      ({ seqId, title, index, x, y }) =>
        html`<a href="${neuronPage(kb.slug, seqId)}" tabindex="-1"${index === 0 && html` class="middle"`}>
        <title>${title}</title><circle cx="${x}" cy="${y}" r="5"/>
        <text x="${x}" y="${y < height / 2 ? y - 10 : y + 18}" text-anchor="middle">${short(title)}</text></a>`,
    )}
  </svg>
  ${truncated && html`<p class="hint">There are more pages around this one.</p>`}</section>`
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
